import { ProtocolError } from '../../../src/core/protocol/errors.ts';
import type { Meta } from '../store/meta.ts';
import type { Incoming } from './receive.ts';

/** Nothing new is taken while an admin has paused the server. */
export function refuseWhilePaused(meta: Meta): void {
  const { state, reason } = meta.state();
  if (state !== 'paused') return;
  const why = reason === undefined ? '' : ` (${reason})`;
  throw new ProtocolError('paused', `the server is paused${why}; try again later`, 60_000);
}

/** Closes what has come when the work on it has ended: kept or thrown away, as the end says. */
export async function closing<Result>(
  incoming: Incoming,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await work();
    await incoming.close(true);
    return result;
  } catch (error) {
    // A full disk or a lost lock is not the content's fault: it stays, to be taken up.
    await incoming.close(!(error instanceof ProtocolError) || error.code === 'unknown_upload');
    throw error;
  }
}
