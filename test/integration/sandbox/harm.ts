import { Buffer } from 'node:buffer';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SandboxProvider, SandboxSession } from '../../../src/core/sandbox/sandbox.ts';
import { shell } from './conformance.ts';
import { createFixture, type Fixture } from './fixture.ts';

/** What a command may do to make its own session useless: nothing of it may last. */
export function describeHarm(name: string, create: (stateDir: string) => SandboxProvider): void {
  describe(`harm in the sandbox ${name}`, () => {
    let fixture: Fixture;
    let provider: SandboxProvider;
    let session: SandboxSession;
    beforeAll(() => {
      fixture = createFixture();
      provider = create(join(fixture.root, 'state'));
    });
    afterAll(() => fixture.remove());
    beforeEach(async () => {
      session = await provider.open(fixture.spec);
    });
    afterEach(() => session.close());

    const text = async (command: string): Promise<string> =>
      (await shell(session, command, { timeoutMs: 5_000 })).text;

    async function expectHealthy(): Promise<void> {
      expect(await text('echo healthy')).toBe('healthy\n');
      const content = Buffer.from(`${'x'.repeat(100_000)}\0`);
      await session.files.write('/workspace/large', content);
      expect(await session.files.read('/workspace/large', 200_000)).toHaveLength(100_001);
      await text('mkdir -p src; cd src; export KEPT=1');
      expect(await text('pwd; echo $KEPT')).toBe('/workspace/src\n1\n');
    }

    describe('a session survives its commands', () => {
      test.each([
        ['/dev/fd removed', 'rm -f /dev/fd'],
        ['all of /dev removed', 'rm -rf /dev/* 2>/dev/null'],
        [
          'every folder removed',
          'rm -rf /dev /run /opt /tmp /var/tmp ~ /workspace /bin /usr/bin 2>/dev/null',
        ],
        ['a pipe where the state is kept', 'rm /run/prime-state/*; mkfifo /run/prime-state/state'],
        ['a pipe where input is kept', 'rm /run/prime-state/*; mkfifo /run/prime-state/stdin'],
        ['a link to a device', 'ln -sf /dev/ptmx /run/prime-state/state'],
        [
          'folders where files are kept',
          'rm /run/prime-state/*; mkdir -p /run/prime-state/{state,stdin}/x',
        ],
        ['a state without end', 'trap - EXIT; yes abc | head -c 30000000 > /run/prime-state/state'],
        ['a limit for process 1', 'prlimit --pid 1 --nofile=3:3; prlimit --pid 1 --fsize=0:0'],
        ['a stopped process 1', 'kill -STOP 1; kill -9 1'],
        ['everything stopped', 'kill -STOP -1'],
      ])('%s', async (_, command) => {
        await shell(session, command, { timeoutMs: 3_000 });
        await expectHealthy();
      });

      test('a full or closed private folder fails calls with input, and no call after it', async () => {
        await text('head -c 3G /dev/zero > /run/prime-state/fill');
        const content = Buffer.alloc(3_000_000, 'end 1 0\n');
        await expect(session.files.write('/workspace/large', content)).rejects.toMatchObject({
          code: 'no-space',
        });
        await text('rm /run/prime-state/fill; chmod 0 /run/prime-state');
        await expect(session.files.write('/workspace/large', content)).rejects.toMatchObject({
          code: 'permission',
        });
        expect(await text('echo on; chmod 700 /run/prime-state')).toBe('on\n');
        await expectHealthy();
      });

      test('descriptors of what the supervisor starts for itself are closed to commands', async () => {
        // Whoever could open them would take requests away, or print into later calls.
        const watcher = `
import os, time
seen = set()
end = time.time() + 60
print("on", file=open("/tmp/watching", "w"))
while time.time() < end and not (os.path.exists("/tmp/stop") and "sleep" in seen):
    for p in os.listdir("/proc"):
        try:
            # Readable by the same rule as descriptors, and not for a process that has ended.
            seen.add(os.readlink(f"/proc/{p}/exe").split("/")[-1])
        except OSError: pass
print(*sorted(seen), file=open("/tmp/seen", "w"))
`;
        await text(
          `cat > /tmp/watcher.py <<'EOF'\n${watcher}\nEOF\nsetsid python3 /tmp/watcher.py &`,
        );
        const appears = (file: string) =>
          expect.poll(() => text(`test -s ${file} && echo yes`), { timeout: 60_000 }).toBe('yes\n');
        await appears('/tmp/watching');
        const content = Buffer.alloc(8_000_000);
        const end = performance.now() + 1_500;
        while (performance.now() < end) await session.files.write('/workspace/large', content);
        // What it can see it has seen, once it has seen this one.
        await text('touch /tmp/stop; sleep 60 & echo $! > /tmp/sleeps');
        await appears('/tmp/seen');
        await text('kill $(</tmp/sleeps)');
        const seen = (await text('builtin printf "%s" "$(</tmp/seen)"')).trim().split(' ');
        expect(seen).toContain('sleep');
        expect(seen).not.toContain('head');
        const relays =
          'for p in /proc/[0-9]*; do ls $p/fd >/dev/null 2>&1 && readlink $p/exe; done';
        expect(await text(relays)).not.toMatch(/\/(cat|head)$/m);
      });

      test('programs of the workspace are not taken for those of the system', async () => {
        const bin = join(fixture.spec.base.workspacePath, 'bin');
        const own = await provider.open({
          ...fixture.spec,
          toolchain: { path: [bin], mounts: [], env: {} },
        });
        try {
          await shell(
            own,
            `mkdir bin; for name in cat head timeout stat mv chmod rm mkdir realpath; do printf '#!/bin/sh\\necho forged; exit 0\\n' > bin/$name; chmod 755 bin/$name; done`,
          );
          expect((await shell(own, 'cat a.txt')).text).toBe('forged\n');
          const content = Buffer.from(`${'x'.repeat(100_000)}\0`);
          await own.files.write('/workspace/large', content);
          expect(await own.files.read('/workspace/large', 200_000)).toHaveLength(100_001);
          expect((await own.files.inspect('/workspace/large')).size).toBe(100_001);
          expect((await shell(own, 'echo on')).text).toBe('on\n');
        } finally {
          await own.close();
        }
      });
    });

    test('terminals, semaphores and shared memory work', async () => {
      expect(
        await text(
          `python3 -c "
import os, multiprocessing, multiprocessing.shared_memory as s
print(len(os.openpty())); multiprocessing.Lock(); m = s.SharedMemory(create=True, size=100); m.close(); m.unlink()"; script -qc 'echo in a terminal' /dev/null | tr -d '\\r'; cat <(echo substituted)`,
        ),
      ).toBe('2\nin a terminal\nsubstituted\n');
    });
  });
}
