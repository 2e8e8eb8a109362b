import { afterAll, describe, expect, test } from 'vitest';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import { describeSandbox } from '../../integration/sandbox/conformance.ts';
import { describeFailures } from '../../integration/sandbox/docker-failures.ts';
import { describeFix } from '../../integration/sandbox/docker-fix.ts';
import { describeLimits } from '../../integration/sandbox/docker-limits.ts';
import { describeReaping } from '../../integration/sandbox/docker-reaping.ts';
import { describeTransfer } from '../../integration/sandbox/docker-transfer.ts';
import { ESCAPE_ATTEMPTS } from '../../integration/sandbox/escape-attempts.ts';
import { describeHarm } from '../../integration/sandbox/harm.ts';
import { createEscapeRunner } from '../../integration/sandbox/run-escapes.ts';
import { startTestEngine, TEST_IMAGE } from '../../support/docker-engine.ts';

/** Podman by its compatible socket; `docs/docker.md` says what came out. */
const started = await startTestEngine({ kind: 'podman' });

if (started.kind === 'none') {
  test('the Docker sandbox is tested with Podman', ({ skip }) => {
    skip(`not run, because no engine can be started: ${started.reason}`);
  });
} else {
  const { engine } = started;
  afterAll(() => engine.remove());
  const left = (): string[] =>
    `${engine.docker('ps', '-aq')}\n${engine.docker('volume', 'ls', '-q')}`
      .split('\n')
      .filter((line) => line !== '');
  const { variables, home } = engine;
  const create = () => createDockerSandbox({ image: TEST_IMAGE, variables, home });

  test('it is known for what it is', async () => {
    expect(await create().availability()).toMatchObject({
      available: true,
      detail: expect.stringMatching(/^Podman /),
    });
  });

  describeSandbox('podman', create, { isolated: true, left });

  describe('escapes from a container of Podman', () => {
    test('none succeeds, nothing of the host changed, and nobody connected', async () => {
      const runner = await createEscapeRunner();
      try {
        const outcome = runner.run(undefined, ['docker', TEST_IMAGE], variables);
        const through = ESCAPE_ATTEMPTS.filter(
          ({ name }) => !outcome.results[name]?.said.startsWith('blocked'),
        );
        expect(through.map(({ name }) => `${name}: ${outcome.results[name]?.said}`)).toEqual([]);
        expect(outcome).toMatchObject({ hostChanges: [], connections: 0 });
      } finally {
        runner.remove();
      }
    });
  });

  describeHarm('podman', create);
  describeTransfer(engine);
  describeLimits(engine);
  describeReaping(engine);
  describeFix(engine);
  // Ends the engine.
  describeFailures(engine);
}
