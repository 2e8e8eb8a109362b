import { reapStale } from '../sandbox/scratch.ts';
import { collectGarbage } from '../snapshot/garbage.ts';

/** What earlier runs left behind when they were killed, and old snapshots. Never fails a job. */
export async function cleanUp(stateDir: string): Promise<void> {
  await Promise.allSettled([reapStale(stateDir), collectGarbage(stateDir)]);
}
