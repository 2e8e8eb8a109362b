import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import { SandboxFailure, type SandboxSession } from '../../../src/core/sandbox/sandbox.ts';
import { TEST_IMAGE, type TestEngine } from '../../support/docker-engine.ts';
import { shell } from './conformance.ts';
import { createFixture, type Fixture } from './fixture.ts';

const MIB = 1024 ** 2;

const signalMeasurements = (signal: number): string => `
import os
while True:
    for pid in os.listdir("/proc"):
        try:
            words = open("/proc/" + pid + "/cmdline", "rb").read().split(bytes(1))
            if b"measure" in words or b"du" in words: os.kill(int(pid), ${signal})
        except (OSError, ValueError): pass
`;

export function describeLimits(engine: TestEngine): void {
  describe('limits and labels of a container', () => {
    let fixture: Fixture;
    let session: SandboxSession | undefined;
    const { variables, home } = engine;
    const open = async (limits: object, cpus?: number): Promise<SandboxSession> => {
      const provider = createDockerSandbox({
        image: TEST_IMAGE,
        variables,
        home,
        ...(cpus && { cpus }),
      });
      session = await provider.open({
        ...fixture.spec,
        limits: { ...fixture.spec.limits, ...limits },
      });
      return session;
    };
    beforeAll(() => {
      fixture = createFixture();
    });
    afterAll(() => fixture.remove());
    afterEach(() => session?.close());

    test('what the engine was told', async () => {
      await open({ memoryBytes: 700 * MIB, processes: 100 }, 0.5);
      const [id = ''] = engine
        .docker('ps', '-q', '--filter', 'label=prime-agent=sandbox')
        .split('\n');
      const [info] = JSON.parse(engine.docker('inspect', id)) as [Record<string, never>];
      expect(info).toMatchObject({
        Config: {
          User: '1000:1000',
          Labels: {
            'prime-agent': 'sandbox',
            'prime-agent.owner': expect.stringMatching(new RegExp(`^${process.pid}-\\d+$`)),
            'prime-agent.session': expect.stringMatching(/^prime-agent-[0-9a-f]{16}$/),
            'prime-agent.boot': expect.stringMatching(/^[0-9a-f-]{36}$/),
            'prime-agent.machine': expect.stringMatching(/^[0-9a-f]{16}$/),
          },
        },
        HostConfig: {
          AutoRemove: true,
          // Podman tells what that means.
          CapDrop:
            engine.kind === 'docker' ? ['ALL'] : expect.arrayContaining(['SETUID', 'SYS_CHROOT']),
          Memory: 700 * MIB,
          MemorySwap: 700 * MIB,
          NanoCpus: 5e8,
          NetworkMode: 'none',
          PidsLimit: 116,
          Privileged: false,
          ReadonlyRootfs: true,
          SecurityOpt: ['no-new-privileges', expect.stringContaining('seccomp=')],
        },
      });
    });

    test('a command that takes more memory than there is dies, and the session goes on', async () => {
      const limited = await open({ memoryBytes: 512 * MIB });
      const result = await shell(limited, 'python3 -c "x = bytearray(900 << 20); print(len(x))"', {
        timeoutMs: 60_000,
      });
      expect(result).toMatchObject({ kind: 'exited', code: 137 });
      expect((await shell(limited, 'echo on')).text).toBe('on\n');
    });

    test('files become no larger than allowed', async () => {
      const limited = await open({ fileBytes: 3 * MIB });
      const { code } = await shell(
        limited,
        'head -c 4M /dev/zero > large; test $(stat -c %s large) = 3145728',
      );
      expect(code).toBe(0);
    });

    test('a workspace that becomes too large ends the session, with the reason', async () => {
      const limited = await open({ diskBytes: 50 * MIB });
      await expect(
        shell(
          limited,
          'head -c 30M /dev/zero > one; sleep 8; head -c 30M /dev/zero > two; sleep 60',
          {
            timeoutMs: 90_000,
          },
        ),
      ).rejects.toThrow(
        /^The sandbox was stopped: its workspace holds 6\d MB, and 52 MB are allowed\.$/,
      );
      await expect(shell(limited, 'true')).rejects.toBeInstanceOf(SandboxFailure);
    });

    test('folders that are mounted are not counted', async () => {
      const { workspacePath } = fixture.spec.base;
      const large = join(workspacePath, 'node_modules', 'large');
      writeFileSync(large, Buffer.alloc(60 * MIB));
      const limited = await open({ diskBytes: 50 * MIB });
      expect((await shell(limited, 'sleep 12; echo on')).text).toBe('on\n');
      rmSync(large);
    });

    test.each([
      ['kills', 9],
      ['terminates', 15],
    ])('whoever %s the measurement ends the session', async (_, signal) => {
      const limited = await open({});
      await expect(
        shell(limited, `python3 -c '${signalMeasurements(signal)}'`, { timeoutMs: 90_000 }),
      ).rejects.toThrow(/something in it ends or stops the program that measures its disk use/);
    });

    test('whoever stops the measurement keeps nobody waiting for long', async () => {
      const limited = await open({});
      const stopper = `(python3 -c '${signalMeasurements(19)}' &); sleep 1`;
      expect((await shell(limited, stopper)).code).toBe(0);
      const failing = async (): Promise<void> => {
        // A quick measurement may end before it is stopped, and three in a row count.
        for (let round = 0; round < 50; round++) {
          expect((await shell(limited, 'false', { timeoutMs: 5_000 })).code).toBe(1);
        }
      };
      await expect(failing()).rejects.toThrow(/something in it ends or stops the program/);
    });

    test('a file system in memory is bounded', async () => {
      const limited = await open({ memoryBytes: 512 * MIB });
      const { text } = await shell(limited, 'head -c 300M /dev/zero > /tmp/x; rm /tmp/x');
      expect(text).toContain('No space left on device');
    });

    test('an image of the specification comes before that of the provider', async () => {
      const tag = `prime-agent-test:${randomBytes(4).toString('hex')}`;
      engine.docker('tag', TEST_IMAGE, tag);
      const provider = createDockerSandbox({ image: 'none:such', variables, home });
      session = await provider.open({ ...fixture.spec, image: tag });
      expect((await shell(session, 'echo on')).text).toBe('on\n');
      engine.docker('rmi', tag);
    });

    test('an image by its digest', async () => {
      const id = engine.docker('images', '-q', '--no-trunc', TEST_IMAGE).trim();
      expect(id).toMatch(/^sha256:/);
      const provider = createDockerSandbox({ image: id, variables, home });
      session = await provider.open(fixture.spec);
      expect((await shell(session, 'echo on')).text).toBe('on\n');
    });
  });
}
