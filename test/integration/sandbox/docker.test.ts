import { afterAll, test } from 'vitest';
import { startTestEngine } from '../../support/docker-engine.ts';
import { describeSandbox } from './conformance.ts';
import { leftOn, sandboxOn } from './docker-engine-use.ts';
import { describeDockerEscapes } from './docker-escapes.ts';
import { describeFailures } from './docker-failures.ts';
import { describeFix } from './docker-fix.ts';
import { describeLimits } from './docker-limits.ts';
import { describeReaping } from './docker-reaping.ts';
import { describeTransfer } from './docker-transfer.ts';
import { describeHarm } from './harm.ts';

/** One engine for everything that needs one: it takes seconds to start. */
const started = await startTestEngine();

if (started.kind === 'none') {
  test('the Docker sandbox is tested with a real engine', ({ skip }) => {
    skip(`not run, because no engine can be started: ${started.reason}`);
  });
} else {
  const { engine } = started;
  afterAll(() => engine.remove());
  const create = () => sandboxOn(engine);
  describeSandbox('docker', create, { isolated: true, left: () => leftOn(engine) });
  describeHarm('docker', create);
  describeDockerEscapes(engine);
  describeTransfer(engine);
  describeLimits(engine);
  describeReaping(engine);
  describeFix(engine);
  // Ends the engine.
  describeFailures(engine);
}
