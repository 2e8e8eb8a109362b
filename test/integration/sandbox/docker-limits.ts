import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  createDockerSandbox,
  DEFAULT_IMAGE,
  type DockerSandboxOptions,
} from '../../../src/core/sandbox/docker/docker.ts';
import { SandboxFailure, type SandboxSession } from '../../../src/core/sandbox/sandbox.ts';
import { TEST_IMAGE, type TestEngine } from '../../support/docker-engine.ts';
import { shell } from './conformance.ts';
import { createFixture, type Fixture } from './fixture.ts';

const MIB = 1024 ** 2;

/** Three looks take 15 s at the usual pace, and three that are stopped half a minute. */
const OFTEN_MS = 400;
const SOON_MS = 1_500;

/** With some more files a measurement is not over before it is seen. */
const signalMeasurements = (signal: number): string => `
import os
for name in range(3000): open("/workspace/file" + str(name), "w").close()
open("/workspace/made", "w").close()
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
    const open = async (
      limits: object,
      options: DockerSandboxOptions = {},
    ): Promise<SandboxSession> => {
      const provider = createDockerSandbox({ image: TEST_IMAGE, variables, home, ...options });
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
      await open({ memoryBytes: 700 * MIB, processes: 100 }, { cpus: 0.5 });
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
      const limited = await open({ diskBytes: 50 * MIB }, { lookAtDiskMs: OFTEN_MS });
      // Several looks find nothing to object to before there is too much.
      const writes =
        'head -c 30M /dev/zero > one; sleep 2; echo grows; head -c 30M /dev/zero > two';
      let said = '';
      await expect(
        shell(limited, `${writes}; sleep 600`, {
          timeoutMs: 90_000,
          onOutput: (bytes) => {
            said += Buffer.from(bytes).toString();
          },
        }),
      ).rejects.toThrow(
        /^The sandbox was stopped: its workspace holds 6\d MB, and 52 MB are allowed\.$/,
      );
      expect(said).toBe('grows\n');
      await expect(shell(limited, 'true')).rejects.toBeInstanceOf(SandboxFailure);
    });

    test('a workspace is measured without being asked for', async () => {
      const limited = await open({ diskBytes: 50 * MIB });
      const write = 'head -c 60M /dev/zero > one; sleep 600';
      await expect(shell(limited, write, { timeoutMs: 90_000 })).rejects.toThrow(
        /its workspace holds 6\d MB/,
      );
    });

    test('folders that are mounted are not counted', async () => {
      const { workspacePath } = fixture.spec.base;
      const large = join(workspacePath, 'node_modules', 'large');
      writeFileSync(large, Buffer.alloc(60 * MIB));
      const limited = await open({ diskBytes: 50 * MIB }, { lookAtDiskMs: OFTEN_MS });
      expect((await shell(limited, 'sleep 2; echo on')).text).toBe('on\n');
      // They would have been noticed: as much of its own is.
      await expect(
        shell(limited, 'head -c 60M /dev/zero > own; sleep 600', { timeoutMs: 90_000 }),
      ).rejects.toThrow(/its workspace holds 6\d MB/);
      rmSync(large);
    });

    test.each([
      ['kills', 9],
      ['terminates', 15],
    ])(
      'whoever %s the measurement ends the session',
      async (_, signal) => {
        const limited = await open({}, { lookAtDiskMs: OFTEN_MS });
        // On a busy machine a look takes seconds, and the next one comes after ten times as long.
        await expect(
          shell(limited, `python3 -c '${signalMeasurements(signal)}'`, { timeoutMs: 500_000 }),
        ).rejects.toThrow(/something in it ends or stops the program that measures its disk use/);
      },
      600_000,
    );

    test('whoever stops the measurement keeps nobody waiting for long', async () => {
      const stopper = `(python3 -c '${signalMeasurements(19)}' &); until [ -e made ]; do sleep 0.1; done`;
      const failing = async (limited: SandboxSession): Promise<void> => {
        // A quick measurement may end before it is stopped, and three in a row count.
        for (let round = 0; round < 50; round++) {
          expect((await shell(limited, 'false', { timeoutMs: 5_000 })).code).toBe(1);
        }
      };
      // A look that ended before anybody stops looks says that the disk has room, and failures are not followed by
      // one any more. On a busy machine that takes a while, so the first look comes later each time.
      let reason: unknown;
      for (let go = 1; go <= 3 && reason === undefined; go++) {
        await session?.close();
        const limited = await open({}, { lookAtDiskMs: 2 ** go * SOON_MS });
        expect((await shell(limited, stopper, { timeoutMs: 90_000 })).code).toBe(0);
        reason = await failing(limited).then(
          () => undefined,
          (error: unknown) => error,
        );
      }
      expect(reason).toMatchObject({
        message: expect.stringMatching(/something in it ends or stops the program/),
      });
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

    test('without any name, the default image', async () => {
      expect(DEFAULT_IMAGE).toBe('node:22-bookworm');
      const plain = createDockerSandbox({ variables, home });
      expect(await plain.availability()).toMatchObject({
        available: false,
        reason: expect.stringContaining(`The image ${DEFAULT_IMAGE} is not on`),
      });
      engine.docker('tag', TEST_IMAGE, DEFAULT_IMAGE);
      session = await plain.open(fixture.spec);
      expect((await shell(session, 'echo on')).text).toBe('on\n');
      engine.docker('rmi', DEFAULT_IMAGE);
    });

    test('a network that is named is there, another one is said to be missing', async () => {
      const interfaces = async (options: DockerSandboxOptions): Promise<string> => {
        await session?.close();
        await open({}, options);
        return (await shell(session as SandboxSession, 'cut -d: -f1 /proc/net/dev | tail -n +3'))
          .text;
      };
      expect((await interfaces({})).trim().split(/\s+/)).toEqual(['lo']);
      // The daemon of the tests makes no networks of its own; this one is every engine's.
      const host = readFileSync('/proc/net/dev', 'utf8').split('\n').slice(2);
      const names = host.map((line) => line.split(':')[0]?.trim() ?? '').filter(Boolean);
      expect(names.length).toBeGreaterThan(1);
      expect((await interfaces({ network: 'host' })).trim().split(/\s+/)).toEqual(names);
      await expect(open({}, { network: 'nowhere' })).rejects.toThrow(/nowhere/);
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
