import { afterAll, test } from 'vitest';
import { startTestEngine } from '../../support/docker-engine.ts';
import { describeFailures } from './docker-failures.ts';
import { describeFix } from './docker-fix.ts';
import { describeLimits } from './docker-limits.ts';
import { describeReaping } from './docker-reaping.ts';
import { describeWarm } from './docker-warm.ts';

/** How containers come and go, what they may use, and what goes wrong with an engine. */
const started = await startTestEngine();

if (started.kind === 'none') {
  test('containers come and go on a real engine', ({ skip }) => {
    skip(`not run, because no engine can be started: ${started.reason}`);
  });
} else {
  const { engine } = started;
  afterAll(() => engine.remove());
  describeWarm(engine);
  describeLimits(engine);
  describeReaping(engine);
  describeFix(engine);
  // Ends the engine.
  describeFailures(engine);
}
