import { describe, expect, test } from 'vitest';
import { temporarySizes, workspacePlaces } from '../../../../src/core/sandbox/inside.ts';
import { toolchainMounts } from '../../../../src/core/sandbox/local/arguments.ts';
import { namespaceRemedy, pidMaxIsPerNamespace } from '../../../../src/core/sandbox/local/probe.ts';
import { seccompFilter } from '../../../../src/core/sandbox/local/seccomp.ts';

/** A tiny machine for the filter's instructions (linux/filter.h), to see what a call gets. */
function verdict(
  filter: Buffer,
  arch: number,
  number: number,
  args: readonly number[] = [],
): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(arch >>> 0, 4);
  args.forEach((value, index) => {
    data.writeUInt32LE(value >>> 0, 16 + 8 * index);
  });
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const code = filter.readUInt16LE(at * 8);
    const jumps = [filter.readUInt8(at * 8 + 3), filter.readUInt8(at * 8 + 2)] as const;
    const k = filter.readUInt32LE(at * 8 + 4);
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x15) at += jumps[accumulator === k ? 1 : 0];
    else if (code === 0x35) at += jumps[accumulator >= k ? 1 : 0];
    else if (code === 0x45) at += jumps[(accumulator & k) !== 0 ? 1 : 0];
    else if (code === 0x06) return k === 0x7fff0000 ? 'allow' : `errno ${k & 0xffff}`;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('the filter ran past its end');
}

describe('filter of system calls', () => {
  const X64 = 0xc000003e;
  const ARM64 = 0xc00000b7;
  const filter = (arch: string): Buffer => seccompFilter(arch) ?? Buffer.alloc(0);

  test.each([
    ['read', 0, [], 'allow'],
    ['execve', 59, [], 'allow'],
    ['ptrace', 101, [], 'allow'],
    ['clone of a thread', 56, [0x3d0f00], 'allow'],
    ['clone into a user namespace', 56, [0x10000000 | 17], 'errno 1'],
    ['clone3', 435, [], 'errno 38'],
    ['unshare of files', 272, [0x400], 'allow'],
    ['unshare into a user namespace', 272, [0x10020000], 'errno 1'],
    ['ioctl', 16, [0, 0x5401], 'allow'],
    ['ioctl TIOCSTI', 16, [0, 0x5412], 'errno 1'],
    ['ioctl TIOCLINUX', 16, [0, 0x541c], 'errno 1'],
    ['mount', 165, [], 'errno 1'],
    ['keyctl', 250, [], 'errno 1'],
    ['bpf', 321, [], 'errno 1'],
    ['socket AF_UNIX', 41, [1, 1], 'allow'],
    ['socket AF_INET', 41, [2, 1], 'allow'],
    ['socket AF_INET6', 41, [10, 1], 'allow'],
    ['socket AF_NETLINK', 41, [16, 3], 'allow'],
    ['socket AF_VSOCK', 41, [40, 1], 'errno 97'],
    ['socket AF_ALG', 41, [38, 5], 'errno 97'],
    ['socket AF_PACKET', 41, [17, 3], 'errno 97'],
    ['socket AF_UNSPEC', 41, [0, 1], 'errno 97'],
    ['socketpair AF_UNIX', 53, [1, 1], 'allow'],
    ['socketpair AF_TIPC', 53, [30, 1], 'errno 97'],
    ['prlimit of itself', 302, [0, 7], 'allow'],
    ['prlimit of another process', 302, [17, 7], 'allow'],
    ['prlimit of process 1', 302, [1, 7], 'errno 1'],
    ['setpriority of itself', 141, [0, 0], 'allow'],
    ['a call of the x32 numbers', 0x40000000, [], 'errno 38'],
    ['a call of a later kernel', 460, [], 'allow'],
  ])('x64: %s', (_, number, args, expected) => {
    expect(verdict(filter('x64'), X64, number, args)).toBe(expected);
  });

  test.each([
    ['read', 63, [], 'allow'],
    ['clone into a user namespace', 220, [0x10000000], 'errno 1'],
    ['mount', 40, [], 'errno 1'],
    ['keyctl', 219, [], 'errno 1'],
    ['ioctl TIOCSTI', 29, [0, 0x5412], 'errno 1'],
    ['socket AF_INET', 198, [2, 1], 'allow'],
    ['socket AF_VSOCK', 198, [40, 1], 'errno 97'],
    ['socketpair AF_TIPC', 199, [30, 1], 'errno 97'],
    ['prlimit of process 1', 261, [1, 7], 'errno 1'],
  ])('arm64: %s', (_, number, args, expected) => {
    expect(verdict(filter('arm64'), ARM64, number, args)).toBe(expected);
  });

  test('programs of another architecture do not run', () => {
    expect(verdict(filter('x64'), 0x40000003, 1)).toBe('errno 38');
  });

  test('no filter is made for an architecture that is not known', () => {
    expect(seccompFilter('riscv64')).toBeUndefined();
  });
});

describe('tool chain mounts', () => {
  const mounts = (...paths: string[]): string[] =>
    toolchainMounts({ path: [], mounts: paths, env: {} }, '/home/me/code/app', '/home/me');

  test('outer folders come first, each once, without what is there already', () => {
    expect(
      mounts('/home/me/.pyenv/versions/3', '/usr/lib/node', '/home/me/.pyenv', '/home/me/.pyenv/'),
    ).toEqual(['/home/me/.pyenv', '/home/me/.pyenv/versions/3']);
  });

  test.each([
    '/',
    '/home',
    '/home/me',
    '/home/me/code',
    '/home/me/code/app',
    '/home/me/code/app/.venv',
    '/home/me/code/../',
  ])('%s would show what must not be seen', (path) => {
    expect(mounts(path)).toEqual([]);
  });
});

describe('sizes of temporary folders', () => {
  const MIB = 1024 ** 2;
  const GIB = 1024 ** 3;

  test('parts of a small machine', () => {
    expect(temporarySizes(2 * GIB)).toEqual({
      tmp: 512 * MIB,
      home: 256 * MIB,
      shm: 128 * MIB,
      state: 128 * MIB,
    });
  });

  test('never more than the largest', () => {
    expect(temporarySizes(1024 * GIB)).toEqual({
      tmp: 4 * GIB,
      home: 2 * GIB,
      shm: 512 * MIB,
      state: 512 * MIB,
    });
  });

  test.each([1, 4, 16, 64])('together less than five eighths of %i GiB and some', (memory) => {
    const { tmp, home, shm, state } = temporarySizes(memory * GIB);
    // Home and /var/tmp have the same size.
    expect(tmp + 2 * home + shm + state).toBeLessThanOrEqual((memory * GIB * 5) / 8);
  });
});

test('the snapshot is seen at two places, unless they are one', () => {
  expect(workspacePlaces('/home/me/app')).toEqual(['/workspace', '/home/me/app']);
  expect(workspacePlaces('/workspace')).toEqual(['/workspace']);
});

test.each([
  ['5.15.0-91-generic', false],
  ['6.8.0', false],
  ['6.13.9', false],
  ['6.14.0', true],
  ['7.0.1', true],
])('kernel %s: process numbers are limited for each namespace: %s', (kernel, expected) => {
  expect(pidMaxIsPerNamespace(kernel)).toBe(expected);
});

describe('remedies', () => {
  test('Ubuntu 24.04 names AppArmor', () => {
    const text = namespaceRemedy('bwrap: setting up uid map: Permission denied', {
      apparmor: '1\n',
    });
    expect(text).toContain('apparmor_restrict_unprivileged_userns=0');
    expect(text).toContain('bwrap-userns-restrict');
  });

  test('a kernel or container without user namespaces', () => {
    expect(
      namespaceRemedy('bwrap: No permissions to creating new namespace', { apparmor: '' }),
    ).toContain('user.max_user_namespaces');
  });

  test('a container that hides /proc', () => {
    expect(namespaceRemedy("bwrap: Can't mount proc on /newroot/proc", { apparmor: '' })).toContain(
      'systempaths=unconfined',
    );
  });
});
