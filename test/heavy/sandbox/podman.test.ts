import { afterAll, expect, test } from 'vitest';
import { describeSandbox } from '../../integration/sandbox/conformance.ts';
import { leftOn, sandboxOn } from '../../integration/sandbox/docker-engine-use.ts';
import { describeNoEscape } from '../../integration/sandbox/docker-escapes.ts';
import { describeFailures } from '../../integration/sandbox/docker-failures.ts';
import { describeFix } from '../../integration/sandbox/docker-fix.ts';
import { describeLimits } from '../../integration/sandbox/docker-limits.ts';
import { describeReaping } from '../../integration/sandbox/docker-reaping.ts';
import { describeTransfer } from '../../integration/sandbox/docker-transfer.ts';
import { describeWarm } from '../../integration/sandbox/docker-warm.ts';
import { describeHarm } from '../../integration/sandbox/harm.ts';
import { startTestEngine } from '../../support/docker-engine.ts';

/** Podman by its compatible socket; `docs/docker.md` says what came out. */
const started = await startTestEngine({ kind: 'podman' });

if (started.kind === 'none') {
  test('the Docker sandbox is tested with Podman', ({ skip }) => {
    skip(`not run, because no engine can be started: ${started.reason}`);
  });
} else {
  const { engine } = started;
  afterAll(() => engine.remove());
  const create = () => sandboxOn(engine);

  test('it is known for what it is', async () => {
    expect(await create().availability()).toMatchObject({
      available: true,
      detail: expect.stringMatching(/^Podman /),
    });
  });

  describeSandbox('podman', create, { isolated: true, left: () => leftOn(engine) });

  describeNoEscape(engine);

  describeHarm('podman', create);
  describeTransfer(engine);
  describeWarm(engine);
  describeLimits(engine);
  describeReaping(engine);
  describeFix(engine);
  // Ends the engine.
  describeFailures(engine);
}
