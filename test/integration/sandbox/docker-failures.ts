import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import { SandboxFailure } from '../../../src/core/sandbox/sandbox.ts';
import { startTestEngine, TEST_IMAGE, type TestEngine } from '../../support/docker-engine.ts';
import { ADD } from '../cli/projects.ts';
import { bash, playScript, submit } from '../cli/scripted-server.ts';
import { buildCli, createWorld } from '../cli/world.ts';
import { shell } from './conformance.ts';
import { createFixture, type Fixture } from './fixture.ts';

async function failureOf(work: Promise<unknown>): Promise<{ message: string; remedy: string }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SandboxFailure) {
      return { message: error.message, remedy: error.remedy ?? '' };
    }
    throw error;
  }
  throw new Error('it did not fail');
}

function runs(command: string): boolean {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n').includes(command);
}

/** What goes wrong with an engine that runs. Ends it: comes last. */
export function describeFailures(engine: TestEngine): void {
  describe('failures of the engine', () => {
    let fixture: Fixture;
    const { variables, home, host } = engine;
    const provider = (image = TEST_IMAGE) => createDockerSandbox({ image, variables, home });
    beforeAll(() => {
      fixture = createFixture();
    });
    afterAll(() => fixture.remove());

    test('an image that is not there', async () => {
      const missing = provider('example/nothing:1');
      const reason = `The image example/nothing:1 is not on the container engine at ${host}`;
      const remedy =
        'Get it with `docker pull example/nothing:1`, or choose one of `docker images` with `--docker-image NAME`.';
      expect(await missing.availability()).toEqual({ available: false, reason, remedy });
      expect(await failureOf(missing.open(fixture.spec))).toEqual({
        message: `${reason}.`,
        remedy,
      });
      engine.docker('tag', TEST_IMAGE, 'example/nothing:1');
      // Noticed without a new provider.
      expect(await missing.availability()).toMatchObject({ available: true });
      engine.docker('rmi', 'example/nothing:1');
    });

    test('a name that no image can have', async () => {
      expect(await failureOf(provider('Not A Name').open(fixture.spec))).toEqual({
        message: 'Not A Name is not the name of an image.',
        remedy: 'Write it as name:tag, name@sha256:digest, or as the id of an image.',
      });
    });

    test('an image without bash', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'prime-image-'));
      mkdirSync(join(folder, 'bin'));
      writeFileSync(join(folder, 'bin/sh'), '', { mode: 0o755 });
      execFileSync('tar', ['-C', folder, '-cf', join(folder, 'image.tar'), 'bin']);
      engine.docker('import', join(folder, 'image.tar'), 'prime-agent-test:empty');
      rmSync(folder, { recursive: true });
      const { message, remedy } = await failureOf(
        provider('prime-agent-test:empty').open(fixture.spec),
      );
      expect(message).toBe('The image prime-agent-test:empty has no bash.');
      expect(remedy).toContain('bash and GNU coreutils');
      engine.docker('rmi', 'prime-agent-test:empty');
    });

    test('a prepared image that was removed is made again', async () => {
      const used = provider();
      await (await used.open(fixture.spec)).close();
      const prepared = engine.docker('images', '-q', 'prime-agent/sandbox').trim().split('\n');
      engine.docker('rmi', '-f', ...new Set(prepared));
      const session = await used.open(fixture.spec);
      expect((await shell(session, 'echo on')).text).toBe('on\n');
      await session.close();
    });

    test('a container that somebody kills', async () => {
      const session = await provider().open(fixture.spec);
      const running = failureOf(
        session.shell('sleep 60', { timeoutMs: 60_000, maxOutputBytes: 10 }),
      );
      await new Promise((resolve) => setTimeout(resolve, 300));
      engine.docker('kill', engine.docker('ps', '-q').trim());
      const { message } = await running;
      const how =
        engine.kind === 'docker'
          ? 'killed; when nobody stopped the container, it had no memory left'
          : 'its container is gone; when nobody stopped it, it had no memory left';
      expect(message).toBe(`The sandbox (${engine.kind}, ${host}) ended unexpectedly: ${how}`);
      await session.close();
    });

    describe('with a small disk', () => {
      let folder: string;
      let small: TestEngine;
      const provider = () =>
        createDockerSandbox({
          image: TEST_IMAGE,
          variables: small.variables,
          home: small.home,
        });
      beforeAll(async () => {
        folder = mkdtempSync(join(tmpdir(), 'prime-small-'));
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', folder]);
        const other = await startTestEngine({
          kind: engine.kind,
          dataRoot: folder,
          image: 'small',
        });
        if (other.kind === 'none') throw new Error(other.reason);
        small = other.engine;
      });
      afterAll(async () => {
        await small?.remove();
        execFileSync('umount', ['-l', folder]);
        rmSync(folder, { recursive: true, force: true });
      });

      test('a full disk', async () => {
        const full = provider();
        await (await full.open(fixture.spec)).close();
        writeFileSync(join(fixture.spec.base.tree, 'large'), Buffer.alloc(120 * 1024 ** 2));
        const { message, remedy } = await failureOf(full.open(fixture.spec));
        rmSync(join(fixture.spec.base.tree, 'large'));
        expect(message).toBe(`The disk of the container engine at ${small.host} is full.`);
        expect(remedy).toContain('docker system prune');
        // Nothing of the failed attempt is left, so the next one has room again.
        const session = await full.open(fixture.spec);
        expect((await shell(session, 'echo on')).text).toBe('on\n');
        await session.close();
      });

      test('a disk that becomes full in mid-session: no command is to blame', async () => {
        const session = await provider().open(fixture.spec);
        expect((await shell(session, 'false')).code).toBe(1);
        const { message, remedy } = await failureOf(
          session.shell('head -c 200M /dev/zero > large', {
            timeoutMs: 60_000,
            maxOutputBytes: 1000,
          }),
        );
        expect(message).toMatch(
          new RegExp(
            `^The disk of the container engine at ${small.host} is full: [\\d.]+ (?:bytes|KB|MB) are left`,
          ),
        );
        expect(remedy).toContain('docker system prune');
        // The session is over, and says the same to whoever goes on.
        expect((await failureOf(session.files.read('/workspace/a.txt', 10))).message).toBe(message);
        expect((await failureOf(session.restartShell())).message).toBe(message);
        await session.close();
      });
    });

    test('an engine that restarts in the middle of an attempt: the attempt is invalid', async () => {
      const cli = await buildCli();
      try {
        const { run } = await createWorld(cli.program, ADD);
        const server = await playScript(() => [[bash('sleep 3192')], [submit('nothing')]]);
        const restarted = (async () => {
          await expect
            .poll(() => runs('sleep 3192'), { timeout: 60_000, interval: 200 })
            .toBe(true);
          await engine.kill();
          await engine.start();
        })();
        const { code, stdout, stderr } = await run(
          [
            ...['fix', '--json', '--attempts', '1', '--policy', server.baseUrl, '--no-parity'],
            ...['--test', 'test/add.test.js::adds'],
            ...['--sandbox', 'docker', '--docker-image', TEST_IMAGE],
          ],
          // What a killed engine leaves is removed by the next process.
          { env: variables, leaves: true },
        );
        await restarted;
        const [attempt] = JSON.parse(stdout).tests[0].attempts;
        expect(attempt, stderr).toMatchObject({ outcome: 'invalid' });
        expect(stderr).toMatch(
          /attempt 1: invalid \(.*ended unexpectedly: the connection to the container engine was lost/,
        );
        expect(code).not.toBe(0);
        // Podman ends what its dead service ran only when it is told to, and not at once.
        const volumes = async (): Promise<string> => {
          expect(await provider().availability()).toMatchObject({ available: true });
          return engine.docker('volume', 'ls', '-q');
        };
        await expect.poll(volumes, { timeout: 30_000 }).toBe('');
      } finally {
        await cli.remove();
      }
    });

    test('an engine that dies in mid-session, and comes back', async () => {
      const used = provider();
      const session = await used.open(fixture.spec);
      const running = failureOf(
        session.shell('sleep 60', { timeoutMs: 60_000, maxOutputBytes: 10 }),
      );
      await new Promise((resolve) => setTimeout(resolve, 300));
      await engine.kill();
      const { message, remedy } = await running;
      expect(message).toContain(
        `The sandbox (${engine.kind}, ${host}) ended unexpectedly: the connection to the container engine was lost`,
      );
      expect(remedy).toContain('`docker info`');
      await session.close();
      expect(await failureOf(used.open(fixture.spec))).toEqual({
        message: `No container engine answers at ${host}.`,
        remedy: expect.stringContaining('Start it'),
      });

      await engine.start();
      const next = await used.open(fixture.spec);
      expect((await shell(next, 'cat a.txt')).text).toBe('a\n');
      await next.close();
      // The volume of the lost session belongs to this process, which lives: the next process removes it.
      // Podman does not notice that what its dead service ran is dead.
      if (engine.kind === 'docker') expect(engine.docker('ps', '-q')).toBe('');
    });
  });
}
