import { afterAll, expect, test } from 'vitest';
import { describeSandbox } from '../../integration/sandbox/conformance.ts';
import { leftOn, sandboxOn } from '../../integration/sandbox/docker-engine-use.ts';
import { describeNoEscape } from '../../integration/sandbox/docker-escapes.ts';
import { describeReaping } from '../../integration/sandbox/docker-reaping.ts';
import { describeTransfer } from '../../integration/sandbox/docker-transfer.ts';
import { startTestEngine } from '../../support/docker-engine.ts';

/** Docker that runs as an ordinary user. */
const started = await startTestEngine({ kind: 'rootless' });

if (started.kind === 'none') {
  test('the Docker sandbox is tested with rootless Docker', ({ skip }) => {
    skip(`not run, because no engine can be started: ${started.reason}`);
  });
} else {
  const { engine } = started;
  afterAll(() => engine.remove());
  const create = () => sandboxOn(engine);

  test('it is known for what it is, with what it cannot limit', async () => {
    expect(await create().availability()).toMatchObject({
      available: true,
      detail: expect.stringMatching(/^Docker .* \(rootless\), image /),
    });
  });

  describeSandbox('rootless docker', create, { isolated: true, left: () => leftOn(engine) });

  describeNoEscape(engine);

  describeTransfer(engine);
  describeReaping(engine);
}
