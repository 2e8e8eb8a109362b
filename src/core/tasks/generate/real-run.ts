import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { runProgram } from '../../platform/run-program.ts';
import { textTree, writeTree } from '../tree.ts';
import type { FastRun, Sources } from './fast-run.ts';
import reporter from './reporter.asset.mjs';

export interface RealRunItem {
  readonly files: Sources;
  readonly testPath: string;
}

/** Test files of so many workspaces share one process of Node: starting it is what takes time. */
const BATCH = 150;
const TIMEOUT_MS = 60_000;
const ALONE_TIMEOUT_MS = 5_000;

const lineSchema = z.union([
  z.object({ end: z.literal(true) }),
  z.object({ file: z.string(), name: z.string(), passed: z.boolean() }),
]);

/** Runs workspaces with Node's own test runner; the results come in the order of the items. */
export async function runReal(
  items: readonly RealRunItem[],
  signal?: AbortSignal,
): Promise<readonly FastRun[]> {
  const results: FastRun[] = [];
  for (let at = 0; at < items.length; at += BATCH) {
    signal?.throwIfAborted();
    results.push(...(await runBatch(items.slice(at, at + BATCH), signal)));
  }
  return results;
}

async function runBatch(
  items: readonly RealRunItem[],
  signal: AbortSignal | undefined,
): Promise<readonly FastRun[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'prime-tasks-')));
  try {
    const paths: string[] = [];
    for (const [index, { files, testPath }] of items.entries()) {
      await writeTree(join(folder, String(index)), textTree(files));
      paths.push(join(folder, String(index), testPath));
    }
    await writeFile(join(folder, 'reporter.mjs'), reporter);
    await writeFile(join(folder, 'driver.mjs'), driver(paths));
    const { stdout } = await runProgram(
      process.execPath,
      ['--test-reporter=./reporter.mjs', '--test-reporter-destination=stdout', 'driver.mjs'],
      {
        cwd: folder,
        timeoutMs: items.length === 1 ? ALONE_TIMEOUT_MS : TIMEOUT_MS,
        env: { PATH: process.env.PATH },
      },
    );
    const lines = stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => lineSchema.parse(JSON.parse(line)));
    if (!lines.some((line) => 'end' in line)) {
      if (items.length === 1) return [{ kind: 'timeout' }];
      // One of them keeps the others from their end.
      signal?.throwIfAborted();
      const half = items.length >> 1;
      const first = await runBatch(items.slice(0, half), signal);
      return [...first, ...(await runBatch(items.slice(half), signal))];
    }
    return paths.map((path): FastRun => {
      const own = lines.flatMap((line) =>
        'file' in line && line.file === path ? [[line.name, line.passed] as const] : [],
      );
      if (own.length === 0) return { kind: 'not-loaded', reason: 'no test was reported' };
      return { kind: 'ran', tests: new Map(own) };
    });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A file that cannot be loaded must not take the others with it. */
function driver(paths: readonly string[]): string {
  return [
    "import test from 'node:test';",
    "import { pathToFileURL } from 'node:url';",
    // Without any test the reporter would not come to an end.
    "test('the driver', () => {});",
    `for (const path of ${JSON.stringify(paths)}) {`,
    '  await import(pathToFileURL(path).href).catch(() => {});',
    '}',
    '',
  ].join('\n');
}
