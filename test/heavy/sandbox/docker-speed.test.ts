import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import type { SandboxProvider, SandboxSpec } from '../../../src/core/sandbox/sandbox.ts';
import { createWarmPool } from '../../../src/core/sandbox/warm-pool.ts';
import { startTestEngine, TEST_IMAGE } from '../../support/docker-engine.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';

/** The figures of docs/docker.md. */
const started = await startTestEngine();
const ROUNDS = 12;
/** As long as a short run of tests, in which the next container is made. */
const WORK_S = 2;

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** ms of each `open`, and of the whole. */
async function rounds(
  provider: SandboxProvider,
  spec: SandboxSpec,
  end: () => Promise<void>,
): Promise<{ readonly open: readonly number[]; readonly whole: number }> {
  const open: number[] = [];
  const began = performance.now();
  for (let index = 0; index < ROUNDS; index++) {
    const start = performance.now();
    const session = await provider.open(spec);
    open.push(performance.now() - start);
    await session.shell(`sleep ${WORK_S}`, { timeoutMs: 30_000, maxOutputBytes: 1_000 });
    await session.close();
  }
  await end();
  return { open, whole: performance.now() - began };
}

if (started.kind === 'none') {
  test('the time that a container costs is measured on a real engine', ({ skip }) => {
    skip(`not run, because no engine can be started: ${started.reason}`);
  });
} else {
  const { engine } = started;
  afterAll(() => engine.remove());

  test('a prepared container costs less to open than a new one', { timeout: 600_000 }, async () => {
    const tree = join(await tempFolder(), 'tree');
    const files = Array.from({ length: 1_000 }, (_, index) => [`d${index % 20}/f${index}.js`, 'x']);
    await writeFiles(tree, Object.fromEntries(files));
    const spec: SandboxSpec = {
      base: { id: 'speed', tree, workspacePath: tree, dependencies: [] },
      toolchain: { path: [], mounts: [], env: {} },
      toolbox: {},
      limits: { processes: 64, fileBytes: 2 ** 20 },
    };
    const { variables, home } = engine;
    const cold = createDockerSandbox({ image: TEST_IMAGE, variables, home });
    await (await cold.open(spec)).close();
    const without = await rounds(cold, spec, async () => undefined);
    const pool = createWarmPool(cold);
    const warm = await rounds(pool.provider, spec, () => pool.close());
    const [first = Number.NaN, ...later] = warm.open;
    const ms = (value: number): string => `${value.toFixed(0)} ms`;
    console.log(
      `open: new ${ms(median(without.open))}; with a pool first ${ms(first)}, then ${ms(median(later))}; ` +
        `${ROUNDS} rounds of ${WORK_S} s: ${ms(without.whole)} without, ${ms(warm.whole)} with`,
    );
    expect(median(later)).toBeLessThan(median(without.open) / 2);
    expect(engine.docker('ps', '-aq')).toBe('');
    expect(engine.docker('volume', 'ls', '-q')).toBe('');
  });
}
