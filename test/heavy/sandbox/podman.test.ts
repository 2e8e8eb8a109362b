import { afterAll, describe, expect, test } from 'vitest';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import { describeSandbox } from '../../integration/sandbox/conformance.ts';
import { ESCAPE_ATTEMPTS } from '../../integration/sandbox/escape-attempts.ts';
import { createEscapeRunner } from '../../integration/sandbox/run-escapes.ts';
import { startTestEngine, TEST_IMAGE } from '../../support/docker-engine.ts';

/** Podman by its compatible socket; `docs/docker.md` says what came out. */
const started = await startTestEngine({ kind: 'podman' });

/** Its default profile of system calls stays: it takes no profile over the compatible interface. */
const LET_THROUGH: readonly string[] = [];

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
    test('none succeeds but those that are listed', async () => {
      const runner = await createEscapeRunner();
      try {
        const { results } = runner.run(undefined, ['docker', TEST_IMAGE], variables);
        const through = ESCAPE_ATTEMPTS.filter(({ name }) => results[name]?.escaped !== false);
        expect(through.map(({ name }) => `${name}: ${results[name]?.said}`)).toEqual(LET_THROUGH);
      } finally {
        runner.remove();
      }
    });
  });
}
