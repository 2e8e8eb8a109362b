import { describe, expect, it } from 'vitest';
import { runFast } from '../../../../../src/core/tasks/generate/fast-run.ts';
import { generateModule } from '../../../../../src/core/tasks/generate/module.ts';
import { allTemplates } from '../../../../../src/core/tasks/generate/templates/all.ts';
import { errorCount } from '../../../../../src/core/tasks/operators/functions.ts';

const MODULES = 8;

describe('the templates', () => {
  it('are many, each of its own family', () => {
    const families = allTemplates.map(({ family }) => family);
    expect(new Set(families).size).toBe(families.length);
    expect(families.length).toBeGreaterThanOrEqual(40);
  });

  it.each(allTemplates.map((template) => [template.family, template] as const))(
    '%s gives small, different modules whose 3 to 12 tests pass',
    (_, template) => {
      const texts = new Set<string>();
      for (let index = 0; index < MODULES; index++) {
        const { files, sourcePaths, testPath } = generateModule(template, 7, index);
        texts.add(JSON.stringify(files));
        const lines = sourcePaths.flatMap((path) => files[path]?.trimEnd().split('\n') ?? []);
        expect(lines.length).toBeGreaterThanOrEqual(1);
        expect(lines.length).toBeLessThanOrEqual(75);
        const run = runFast(files, testPath);
        if (run.kind !== 'ran') throw new Error(run.kind);
        expect(run.tests.size).toBeGreaterThanOrEqual(3);
        expect(run.tests.size).toBeLessThanOrEqual(12);
        for (const path of [...sourcePaths, testPath]) {
          expect(errorCount(files[path] ?? '', 'javascript')).toBe(0);
          // What a template did not fill in, or put together wrongly.
          expect(files[path]).not.toMatch(/\[object|\\\$\{|\n\n\n| $/m);
        }
      }
      expect(texts.size).toBeGreaterThan(MODULES * 0.6);
    },
  );

  it('give the same module for the same seed, and another one for another', () => {
    for (const template of allTemplates.slice(0, 10)) {
      const first = generateModule(template, 3, 5);
      expect(generateModule(template, 3, 5)).toEqual(first);
      expect([4, 6, 8].some((seed) => generateModule(template, seed, 5) !== first)).toBe(true);
    }
  });
});
