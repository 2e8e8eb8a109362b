import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withProfile } from '../../../../../src/core/sandbox/docker/profile.ts';
import { seccompProfile } from '../../../../../src/core/sandbox/docker/seccomp.ts';

const podman = { kind: 'podman', onThisMachine: true } as const;

test('Docker gets the text of the profile', async () => {
  const engine = { kind: 'docker', onThisMachine: false } as const;
  expect(await withProfile(engine, async (seccomp) => seccomp)).toBe(seccompProfile());
});

test('Podman gets the name of a file, which is gone afterwards', async () => {
  const file = await withProfile(podman, async (seccomp) => {
    expect(readFileSync(seccomp ?? '', 'utf8')).toBe(seccompProfile());
    return seccomp ?? '';
  });
  expect(file).not.toBe('');
  expect(existsSync(file)).toBe(false);
});

test('Podman of another machine keeps its own profile', async () => {
  const away = { kind: 'podman', onThisMachine: false } as const;
  expect(await withProfile(away, async (seccomp) => seccomp ?? 'its own')).toBe('its own');
});

/** What Podman 4.3.1 says. */
const MISSING =
  'opening seccomp profile failed: open /tmp/x/seccomp.json: no such file or directory';

test('a forwarded socket of Podman: it does not see the file, and keeps its own profile', async () => {
  const create = async (seccomp: string | undefined): Promise<string> => {
    if (seccomp !== undefined) throw new Error(MISSING);
    return 'its own';
  };
  expect(await withProfile(podman, create)).toBe('its own');
});

test('a profile that Podman refuses is a failure', async () => {
  const create = async (seccomp: string | undefined): Promise<string> => {
    if (seccomp === undefined) return 'its own';
    throw new Error('loading seccomp profile failed: decoding seccomp profile failed');
  };
  await expect(withProfile(podman, create)).rejects.toThrow('decoding seccomp profile failed');
});
