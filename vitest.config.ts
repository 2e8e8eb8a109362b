import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig, type Plugin } from 'vitest/config';

/** The same rule as in scripts/build.mjs: sandbox assets are imported as text. */
const textAssets: Plugin = {
  name: 'text-assets',
  enforce: 'pre',
  load(id) {
    const file = id.split('?')[0] ?? id;
    if (!/\.(sh|py|asset\.mjs|asset\.cjs)$/.test(file)) return null;
    return `export default ${JSON.stringify(readFileSync(file, 'utf8'))};`;
  },
};

const common = { plugins: [textAssets] };

export default defineConfig({
  ...common,
  test: {
    projects: [
      {
        ...common,
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: ['test/unit/**/*.test.ts', 'test/fuzz/**/*.test.ts'],
          pool: 'threads',
          // By itself vitest leaves one core free: on a machine with two that is half of them.
          maxWorkers: availableParallelism(),
          // Much work in one test, and a machine may be busy with other things.
          testTimeout: 60_000,
        },
      },
      {
        ...common,
        test: {
          name: 'integration',
          sequence: { groupOrder: 1 },
          include: ['test/integration/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 180_000,
          hookTimeout: 120_000,
          // Most of them wait much: for containers, sandboxes, limits of time.
          maxWorkers: Math.min(8, availableParallelism() + 1),
        },
      },
      {
        ...common,
        test: {
          name: 'heavy',
          sequence: { groupOrder: 2 },
          include: ['test/heavy/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 600_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
        },
      },
      {
        ...common,
        test: {
          name: 'e2e',
          sequence: { groupOrder: 3 },
          include: ['test/e2e/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 600_000,
          hookTimeout: 120_000,
          maxWorkers: 1,
        },
      },
    ],
  },
});
