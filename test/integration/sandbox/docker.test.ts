import { afterAll, test } from 'vitest';
import { startTestEngine } from '../../support/docker-engine.ts';
import { describeSandbox } from './conformance.ts';
import { leftOn, sandboxOn } from './docker-engine-use.ts';
import { describeDockerEscapes } from './docker-escapes.ts';
import { describeTransfer } from './docker-transfer.ts';
import { describeHarm } from './harm.ts';

/** What happens inside of a container. One engine for all of it: it takes seconds to start. */
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
}
