import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createRedactor } from '../../src/core/redaction/redactor.ts';
import { createTrajectoryStore } from '../../src/core/trajectories/store.ts';
import { groupAttempts } from '../../src/editor/attempts-view/groups.ts';
import { listedRecord } from '../../src/editor/attempts-view/listed.ts';
import { end, header, turn } from '../unit/core/trajectories/make.ts';
import { median } from './table.ts';

const RECORDS = 10_000;
const ROUNDS = 7;
const WORKSPACE = '/srv/shop';

/** Listing 10,000 records as the editor's view does it: first, again, and again after one more. */
export async function attemptTimes(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'prime-agent-bench-attempts-'));
  try {
    await fill(root);
    // Only carried along here.
    const folder = { name: 'shop', index: 0 } as Parameters<typeof listedRecord>[1];
    const list = async (store: ReturnType<typeof createTrajectoryStore>): Promise<void> => {
      const listed = (await store.list(WORKSPACE)).map((stored) => listedRecord(stored, folder));
      groupAttempts(listed, 'day');
    };
    const first: number[] = [];
    const again: number[] = [];
    const added: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const store = createTrajectoryStore(root);
      first.push(await timed(() => list(store)));
      again.push(await timed(() => list(store)));
      await record(root, `b-${round}`);
      added.push(await timed(() => list(store)));
    }
    return [
      line('first time', first),
      line('again', again),
      line('again, after one more attempt', added),
    ].join('\n');
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** One real record, and copies of it under other names with their lines in the index. */
async function fill(root: string): Promise<void> {
  const path = await record(root, 'a-0');
  const folder = dirname(path);
  const text = await readFile(path);
  const index = await readFile(join(folder, '.index.jsonl'), 'utf8');
  let lines = index;
  for (let at = 1; at < RECORDS; at++) {
    await writeFile(join(folder, `a-${at}.jsonl`), text);
    const startedAt = new Date(Date.UTC(2026, 0, 1) + at * 600_000).toISOString();
    lines += index.replace('"a-0"', `"a-${at}"`).replace(header().startedAt, startedAt);
  }
  await writeFile(join(folder, '.index.jsonl'), lines);
}

async function record(root: string, attemptId: string): Promise<string> {
  const writer = await createTrajectoryStore(root).create({
    workspacePath: WORKSPACE,
    attemptId,
    redactor: createRedactor({}),
  });
  for (const line of [header({ attemptId }), turn(0), end()]) await writer.append(line);
  await writer.close();
  return writer.path;
}

function line(name: string, values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return `| ${name} | ${median(values).toFixed(0)} (${low.toFixed(0)} to ${high.toFixed(0)}) |`;
}

/** Of the processor: a busy machine does not change it much. */
async function timed(work: () => Promise<void>): Promise<number> {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}
