import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createLocalSandbox } from '../../src/core/sandbox/local/local.ts';
import type { SnapshotBase } from '../../src/core/sandbox/sandbox.ts';
import { makeBase } from '../../src/core/snapshot/base.ts';
import { median } from './table.ts';

/** The first snapshot, one of an unchanged tree, one after a change, and one more attempt over it. */
export async function snapshotTimes(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'prime-agent-bench-'));
  try {
    const root = join(folder, 'work');
    await makeTree(root, 'src', 10_000);
    await makeTree(root, 'node_modules', 50_000);
    await writeFile(join(root, '.gitignore'), 'node_modules/\n');
    execFileSync('git', ['init', '-q'], { cwd: root });
    const stateDir = join(folder, 'state');
    const make = async (): Promise<SnapshotBase> => {
      const made = await makeBase(root, { stateDir });
      if (made.kind !== 'base') throw new Error(made.reason);
      return made.base;
    };
    const first = await times(1, make);
    const unchanged = await times(5, make);
    let count = 0;
    const changed = await times(5, async () => {
      await writeFile(join(root, 'src/0/0.js'), `changed ${count++}\n`);
      return make();
    });
    const base = await make();
    const provider = createLocalSandbox({ stateDir });
    await provider.availability();
    const opened = await times(10, async () => {
      const session = await provider.open({
        base,
        toolchain: { path: [], mounts: [], env: {} },
        toolbox: {},
        limits: { processes: 512, fileBytes: 2 ** 30 },
      });
      await session.close();
    });
    const line = (name: string, values: readonly number[]): string =>
      `| ${name} | ${median(values).toFixed(0)} (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}) |`;
    return [
      line('first snapshot', first),
      line('snapshot of an unchanged tree', unchanged),
      line('snapshot after one changed file', changed),
      line('open and close one more attempt', opened),
    ].join('\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeTree(root: string, name: string, files: number): Promise<void> {
  for (let start = 0; start < files; start += 500) {
    const folder = join(root, name, String(start / 500));
    await mkdir(folder, { recursive: true });
    await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        writeFile(join(folder, `${index}.js`), `export const a = ${start + index};\n`),
      ),
    );
  }
}

async function times(rounds: number, work: () => Promise<unknown>): Promise<readonly number[]> {
  const result: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await work();
    result.push(performance.now() - began);
  }
  return result;
}
