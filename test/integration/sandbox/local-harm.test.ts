import { Buffer } from 'node:buffer';
import { symlinkSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLocalSandbox } from '../../../src/core/sandbox/local/local.ts';
import type { SandboxProvider, SandboxSession } from '../../../src/core/sandbox/sandbox.ts';
import { shell } from './conformance.ts';
import { createFixture, type Fixture } from './fixture.ts';
import { describeHarm } from './harm.ts';

let fixture: Fixture;
let provider: SandboxProvider;
let session: SandboxSession;
beforeAll(() => {
  fixture = createFixture();
  symlinkSync(
    join(fixture.spec.base.workspacePath, 'a.txt'),
    join(fixture.spec.base.tree, 'absolute'),
  );
  symlinkSync(fixture.spec.base.workspacePath, join(fixture.spec.base.tree, 'whole'));
  symlinkSync(`${fixture.spec.base.workspacePath}-other/x`, join(fixture.spec.base.tree, 'other'));
  provider = createLocalSandbox({ stateDir: join(fixture.root, 'state') });
});
afterAll(() => fixture.remove());
beforeEach(async () => {
  session = await provider.open(fixture.spec);
});
afterEach(() => session.close());

const text = async (command: string): Promise<string> =>
  (await shell(session, command, { timeoutMs: 5_000 })).text;

describeHarm('local', (stateDir) => createLocalSandbox({ stateDir }));

describe('memory', () => {
  test('temporary folders hold a part of the memory', async () => {
    const sizes = (await text('df -B1 --output=size /tmp /dev/shm /var/tmp ~ /run/prime-state'))
      .trim()
      .split('\n')
      .slice(1)
      .map(Number);
    expect(sizes).toHaveLength(5);
    expect(sizes.every((size) => size > 0)).toBe(true);
    expect(sizes[0]).toBeLessThanOrEqual(Math.min(totalmem() / 4, 4 * 1024 ** 3));
    expect(sizes[1]).toBeLessThanOrEqual(512 * 1024 ** 2);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(totalmem() * 0.7);
    expect(await text('head -c 2G /dev/zero > /dev/shm/x; rm /dev/shm/x')).toContain('No space');
  });

  test('commands are the first victims of the memory killer, the supervisor is none', async () => {
    const scores = 'cat /proc/self/oom_score_adj; sh -c "cat /proc/self/oom_score_adj"';
    expect(await text(`${scores}; cat /proc/1/oom_score_adj`)).toBe(
      `1000\n1000\n${await text('cat /proc/1/oom_score_adj')}`,
    );
    expect(Number(await text('cat /proc/1/oom_score_adj'))).toBeLessThan(1000);
    const result = await session.run(
      { argv: ['cat', '/proc/self/oom_score_adj'] },
      { timeoutMs: 5_000, maxOutputBytes: 100 },
    );
    expect(Buffer.from(result.output.head).toString()).toBe('1000\n');
    // The descriptor that sets the supervisor's score stays with the supervisor.
    expect(await text('ls /proc/self/fd | tr "\n" " "')).toBe('0 1 2 3 ');
  });
});

describe('real paths', () => {
  test('an absolute link into the own path of the user leads to /workspace', async () => {
    expect(await session.files.inspect('/workspace/absolute')).toMatchObject({
      kind: 'file',
      isSymlink: true,
      realPath: '/workspace/a.txt',
    });
    expect((await session.files.inspect('/workspace/whole')).realPath).toBe('/workspace');
    expect((await session.files.inspect('/workspace/whole/src/run.sh')).realPath).toBe(
      '/workspace/src/run.sh',
    );
    expect(
      (await session.files.inspect(join(fixture.spec.base.workspacePath, 'nothing'))).realPath,
    ).toBe('/workspace/nothing');
  });

  test('a path that only begins the same stays', async () => {
    expect((await session.files.inspect('/workspace/other')).realPath).toBe(
      `${fixture.spec.base.workspacePath}-other/x`,
    );
  });
});
