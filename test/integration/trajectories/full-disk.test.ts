import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * On a real, very small disk: a tmpfs that bubblewrap mounts for one process. The process writes a
 * record until it fails and reports what it saw.
 */
const BYTES = 256 * 1024;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prime-full-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a full disk is a typed failure, and what was written before stays readable', async () => {
  const source = resolve(import.meta.dirname, '../../../src/core');
  const make = resolve(import.meta.dirname, '../../unit/core/trajectories/make.ts');
  const entry = join(folder, 'entry.ts');
  await writeFile(
    entry,
    `import { createRedactor } from '${source}/redaction/redactor.ts';
     import { parseTrajectories } from '${source}/trajectories/reader.ts';
     import { createTrajectoryStore } from '${source}/trajectories/store.ts';
     import { header, turn, end } from '${make}';
     import { readFileSync } from 'node:fs';
     const store = createTrajectoryStore(process.argv[2]);
     const redactor = createRedactor({});
     const writer = await store.create({ workspacePath: '/w', attemptId: 'a-1', redactor });
     await writer.append(header());
     let turns = 0;
     const failures = [];
     const content = 'line of output\\n'.repeat(1500);
     while (failures.length === 0 && turns < 100) {
       const observations = [{ callId: 'c', name: 'bash', ok: true, content, durationMs: 1 }];
       await writer.append(turn(turns, { observations })).then(() => turns++, (e) => failures.push(e));
     }
     await writer.append(end()).catch((e) => failures.push(e));
     await writer.close();
     const [record] = parseTrajectories(readFileSync(writer.path, 'utf8'), 'a-1.jsonl');
     const listed = await store.list();
     console.log(JSON.stringify({
       turns, recorded: record.turns.length, ended: record.end !== undefined,
       failures: failures.map(({ name, code, message, remedy }) => ({ name, code, message, remedy })),
       listed: listed.map((item) => item.outcome),
     }));`,
  );
  const outfile = join(folder, 'entry.mjs');
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    // Dependencies of dependencies may still be CommonJS.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  const { stdout } = await promisify(execFile)('bwrap', [
    '--dev-bind',
    '/',
    '/',
    '--size',
    String(BYTES),
    '--tmpfs',
    '/mnt',
    process.execPath,
    outfile,
    '/mnt/state',
  ]).catch((error: unknown) => {
    throw new Error(`this test needs bubblewrap 0.8 (bwrap --size): ${String(error)}`);
  });
  const seen: unknown = JSON.parse(stdout);
  expect(seen).toMatchObject({
    ended: false,
    failures: [
      {
        name: 'TrajectoryWriteError',
        code: 'no-space',
        message: expect.stringContaining('no space left on the disk'),
        remedy: expect.stringContaining('PRIME_AGENT_HOME'),
      },
      { code: 'no-space' },
    ],
    listed: ['unfinished'],
  });
  const { turns, recorded } = seen as { turns: number; recorded: number };
  expect(turns).toBeGreaterThan(2);
  expect(recorded).toBe(turns);
});
