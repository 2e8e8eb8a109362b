import { describe, expect, test } from 'vitest';
import {
  type ContainerInput,
  containerMemory,
  containerOptions,
} from '../../../../../src/core/sandbox/docker/container-options.ts';
import { seccompProfile } from '../../../../../src/core/sandbox/docker/seccomp.ts';

const GIB = 1024 ** 3;

const input: ContainerInput = {
  engine: {
    kind: 'docker',
    memoryBytes: 8 * GIB,
    cpus: 4,
    limits: { memory: true, cpu: true, processes: true },
  },
  image: { id: 'sha256:abc', path: '/opt/go/bin:/usr/bin' },
  spec: {
    base: { id: 'x', tree: '/state/base', workspacePath: '/home/ada/shop', dependencies: [] },
    toolchain: { path: [], mounts: [], env: {} },
    toolbox: {},
    limits: { processes: 100, fileBytes: GIB },
  },
  id: 1000,
  volume: 'v',
  mounted: [{ path: 'node_modules', hostPath: '/home/ada/shop/node_modules' }],
  labels: { 'prime-agent': 'sandbox' },
  network: 'none',
  seccomp: '{}',
  cpus: undefined,
};

describe('options of a container', () => {
  test('isolation does not depend on what was asked for', () => {
    for (const kind of ['docker', 'podman'] as const) {
      for (const network of ['none', 'tests']) {
        const { HostConfig, User, Tty } = containerOptions({
          ...input,
          network,
          engine: {
            ...input.engine,
            kind,
            limits: { memory: false, cpu: false, processes: false },
          },
        });
        expect({ User, Tty }).toEqual({ User: '1000:1000', Tty: false });
        expect(HostConfig).toMatchObject({
          NetworkMode: network,
          ReadonlyRootfs: true,
          Privileged: false,
          CapDrop: ['ALL'],
          IpcMode: 'private',
          LogConfig: { Type: 'none' },
        });
        expect(HostConfig?.SecurityOpt).toEqual(['no-new-privileges', 'seccomp={}']);
        expect(HostConfig?.CapAdd ?? []).toEqual([]);
        expect(HostConfig?.Binds ?? []).toEqual([]);
        expect(HostConfig?.Devices ?? []).toEqual([]);
      }
    }
  });

  test('the snapshot is at /workspace and at the own path, dependencies in it, read-only', () => {
    const mounts = containerOptions(input).HostConfig?.Mounts ?? [];
    expect(mounts.map(({ Type, Target, ReadOnly }) => [Type, Target, ReadOnly ?? false])).toEqual([
      ['volume', '/workspace', false],
      ['volume', '/home/ada/shop', false],
      ['bind', '/workspace/node_modules', true],
      ['bind', '/home/ada/shop/node_modules', true],
    ]);
  });

  test('a path of Windows is not mounted', () => {
    const base = { ...input.spec.base, workspacePath: 'C:\\shop' };
    const { HostConfig } = containerOptions({ ...input, spec: { ...input.spec, base } });
    expect(HostConfig?.Mounts?.map(({ Target }) => Target)).toEqual([
      '/workspace',
      '/workspace/node_modules',
    ]);
  });

  test("the image's own PATH stays", () => {
    expect(containerOptions(input).Env).toContain('PATH=/opt/go/bin:/usr/bin');
    const { Env } = containerOptions({ ...input, image: { id: 'x', path: undefined } });
    expect(Env?.find((line) => line.startsWith('PATH='))).toContain('/usr/local/bin');
  });

  test('memory: half of the engine, unless asked; never too little to start', () => {
    expect(containerMemory(undefined, 8 * GIB)).toBe(4 * GIB);
    expect(containerMemory(GIB, 8 * GIB)).toBe(GIB);
    expect(containerMemory(1, 8 * GIB)).toBe(GIB / 2);
    expect(containerMemory(undefined, 0)).toBe(GIB / 2);
    expect(containerOptions(input).HostConfig).toMatchObject({
      Memory: 4 * GIB,
      MemorySwap: 4 * GIB,
      NanoCpus: 3e9,
      PidsLimit: 116,
    });
  });

  test('limits that an engine does not have are not asked for: it would refuse', () => {
    const limits = { memory: false, cpu: false, processes: false };
    const { HostConfig } = containerOptions({ ...input, engine: { ...input.engine, limits } });
    for (const name of ['Memory', 'MemorySwap', 'NanoCpus', 'PidsLimit']) {
      expect(HostConfig).not.toHaveProperty(name);
    }
  });
});

describe('the profile of system calls', () => {
  interface Rule {
    readonly names: readonly string[];
    readonly errnoRet: number;
    readonly args?: readonly {
      readonly index: number;
      readonly value: number;
      readonly op: string;
    }[];
  }
  const profile = JSON.parse(seccompProfile()) as { readonly syscalls: readonly Rule[] };
  const rules = (name: string): readonly Rule[] =>
    profile.syscalls.filter(({ names }) => names.includes(name));

  test('what is refused always', () => {
    for (const name of ['mount', 'setns', 'bpf', 'keyctl', 'io_uring_setup', 'open_tree']) {
      expect(rules(name).some(({ args }) => args === undefined)).toBe(true);
    }
    expect(rules('clone3')).toEqual([expect.objectContaining({ errnoRet: 38 })]);
  });

  test('sockets: every family but four', () => {
    const refused = rules('socket').flatMap(({ args }) =>
      (args ?? []).filter(({ op }) => op === 'SCMP_CMP_EQ').map(({ value }) => value),
    );
    expect(
      Array.from({ length: 64 }, (_, family) => family).filter((f) => !refused.includes(f)),
    ).toEqual([1, 2, 10, 16]);
    expect(rules('socket').some(({ args }) => args?.[0]?.op === 'SCMP_CMP_GE')).toBe(true);
  });

  test('arguments of 32 bits are compared without the upper half', () => {
    for (const name of ['ioctl', 'prlimit64', 'clone', 'unshare']) {
      for (const { args } of rules(name)) {
        for (const { op } of args ?? []) expect(op).toBe('SCMP_CMP_MASKED_EQ');
      }
    }
  });
});
