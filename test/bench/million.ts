import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listData } from '../../server/src/data/list.ts';
import { openData } from '../../server/src/data/open.ts';
import { openFolders } from '../../server/src/folders.ts';
import { openDatabase } from '../../server/src/store/database.ts';
import { createTrajectoryTable } from '../../server/src/store/trajectories.ts';
import { median } from './table.ts';

const STORED = 1_000_000;
const ROUNDS = 50;

/** What a status and a list cost with a million trajectories. @returns rows of a table, milliseconds */
export async function millionTimes(): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), 'prime-agent-bench-'));
  try {
    const db = openDatabase(openFolders(data).database);
    fill(db);
    const table = createTrajectoryTable(db);
    const opened = openData(data);
    const rows = [
      ['status (totals by claim)', times(() => table.totalsByClaim())],
      ['quota of a contributor', times(() => table.totalsOf('c3'))],
      ['is this attempt here?', times(() => table.find('c3', 'attempt-500003'))],
      ['the newest 100', times(() => listData(opened, 'trajectories', 100))],
    ] as const;
    opened.close();
    db.close();
    return rows
      .map(
        ([name, all]) => `| ${name} | ${median(all).toFixed(2)} | ${Math.max(...all).toFixed(2)} |`,
      )
      .join('\n');
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

/** In one statement: what is measured is reading. */
function fill(db: ReturnType<typeof openDatabase>): void {
  db.prepare(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
    INSERT INTO trajectories (contributor, attempt_id, series_id, task_id, blob, blob_bytes, content,
      content_bytes, started_at, received_at, policy_kind, policy_hash, scaffold_hash, rules, outcome,
      claimed_reward, claim, turns, sampled_tokens)
    SELECT 'c' || (i % 10), 'attempt-' || i, 's-' || (i / 8), 't-' || (i / 64),
      printf('%064x', i), 60000, printf('%064x', i), 200000, '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:00.000Z', 'onnx', NULL, printf('%064x', 7), 'strict', 'solved', i % 2,
      iif(i % 3 = 0, 'waiting', 'holds'), 5, 1000 FROM n`).run(STORED);
}

function times(work: () => unknown): readonly number[] {
  return Array.from({ length: ROUNDS }, () => {
    const began = performance.now();
    work();
    return performance.now() - began;
  });
}
