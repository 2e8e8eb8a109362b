import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLocalSandbox } from '../../../src/core/sandbox/local/local.ts';
import { createFixture, type Fixture } from '../../integration/sandbox/fixture.ts';

/** The figures of docs/sandbox.md; the limits leave room for a loaded machine. */
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
/** What it costs when nothing else runs: nearly the best. */
const quiet = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 20)] ?? Number.NaN;

async function timed(name: string, times: number, action: () => Promise<unknown>): Promise<number> {
  const values: number[] = [];
  for (let index = 0; index < times; index++) {
    const started = performance.now();
    await action();
    values.push(performance.now() - started);
  }
  console.log(`${name}: ${quiet(values).toFixed(1)} ms, median ${median(values).toFixed(1)} ms`);
  return median(values);
}

function fill(folder: string, files: number): void {
  for (let index = 0; index < files; index += 100) {
    const part = join(folder, `d${index / 100}`);
    mkdirSync(part, { recursive: true });
    for (let file = 0; file < 100; file++)
      writeFileSync(join(part, `f${file}.js`), 'x'.repeat(200));
  }
}

let fixture: Fixture;
beforeAll(() => {
  fixture = createFixture();
  fill(join(fixture.spec.base.tree, 'many'), 10_000);
  fill(join(fixture.spec.base.workspacePath, 'node_modules', 'many'), 50_000);
});
afterAll(() => fixture.remove());

test('an attempt on 10,000 + 50,000 files opens and closes quickly, and a call costs little', async () => {
  const provider = createLocalSandbox({ stateDir: join(fixture.root, 'state') });
  const first = await provider.open(fixture.spec);
  const exec = { timeoutMs: 10_000, maxOutputBytes: 10_000 };
  const call = await timed('shell true', 200, () => first.shell('true', exec));
  await timed('run true', 200, () => first.run({ argv: ['true'] }, exec));
  await timed('read', 200, () => first.files.read('/workspace/a.txt', 1000));
  await timed('write', 100, () => first.files.write('/workspace/a.txt', Buffer.from('x')));
  await timed('inspect', 100, () => first.files.inspect('/workspace/a.txt'));
  await first.close();
  const closes: number[] = [];
  const open = await timed('open and close', 15, async () => {
    const session = await provider.open(fixture.spec);
    const started = performance.now();
    await session.close();
    closes.push(performance.now() - started);
  });
  const closing = median(closes);
  await timed('unshare and bwrap alone', 15, async () => {
    execFileSync('unshare', [
      ...['--user', '--map-root-user', '--mount', '--pid', '--fork', '--mount-proc'],
      ...[
        'bash',
        '-c',
        'exec bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev bash -c true',
      ],
    ]);
  });
  expect(call).toBeLessThan(30);
  expect(open - closing).toBeLessThan(500);
});
