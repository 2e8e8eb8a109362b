import { expect } from 'vitest';

const TRIES = 3;
const REFERENCE_ROUNDS = 20;

/**
 * That something takes less than `boundMs`, or at least less than twenty rounds of `reference`, a small piece of
 * ordinary work: on a busy machine both become slow, and what waits for a time limit, or for a process that was
 * to be ended, is still slower. Only three failures in a row count, since load comes in waves.
 * `attempt` does it once and says how long it took.
 */
export async function expectPrompt(
  attempt: () => Promise<number>,
  reference: () => Promise<unknown>,
  boundMs = 1_000,
): Promise<void> {
  const seen: string[] = [];
  while (seen.length < TRIES) {
    const took = await attempt();
    if (took < boundMs) return;
    const started = performance.now();
    for (let round = 0; round < REFERENCE_ROUNDS; round++) await reference();
    const rounds = performance.now() - started;
    if (took < rounds) return;
    seen.push(
      `${Math.round(took)} ms (${REFERENCE_ROUNDS} rounds of other work: ${Math.round(rounds)} ms)`,
    );
  }
  expect.fail(
    `expected less than ${boundMs} ms, or than the other work; it took ${seen.join(', ')}`,
  );
}
