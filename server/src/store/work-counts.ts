import { z } from 'zod';
import type { Db } from './database.ts';

type What = 'tasks' | 'snapshots' | 'groups' | 'rollouts';

/** How many there are in each state, at the same cost however many that is. */
export type WorkCounts = (what: What, state: string) => number;

const rowsSchema = z.array(z.object({ what: z.string(), state: z.string(), count: z.number() }));

export function createWorkCounts(db: Db): () => WorkCounts {
  const select = db.prepare('SELECT what, state, count FROM work_counts');
  return () => {
    const rows = rowsSchema.parse(select.all());
    return (what, state) =>
      rows.find((row) => row.what === what && row.state === state)?.count ?? 0;
  };
}
