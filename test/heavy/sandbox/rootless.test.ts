import { afterAll, describe, expect, test } from 'vitest';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import { describeSandbox } from '../../integration/sandbox/conformance.ts';
import { describeReaping } from '../../integration/sandbox/docker-reaping.ts';
import { describeTransfer } from '../../integration/sandbox/docker-transfer.ts';
import { ESCAPE_ATTEMPTS } from '../../integration/sandbox/escape-attempts.ts';
import { createEscapeRunner } from '../../integration/sandbox/run-escapes.ts';
import { startTestEngine, TEST_IMAGE } from '../../support/docker-engine.ts';

/** Docker that runs as an ordinary user. */
const started = await startTestEngine({ kind: 'rootless' });

if (started.kind === 'none') {
  test('the Docker sandbox is tested with rootless Docker', ({ skip }) => {
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

  test('it is known for what it is, with what it cannot limit', async () => {
    expect(await create().availability()).toMatchObject({
      available: true,
      detail: expect.stringMatching(/^Docker .* \(rootless\), image /),
    });
  });

  describeSandbox('rootless docker', create, { isolated: true, left });

  describe('escapes from a container of rootless Docker', () => {
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

  describeTransfer(engine);
  describeReaping(engine);
}
