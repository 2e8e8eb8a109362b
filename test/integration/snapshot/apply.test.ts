import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { applyPatchToWorkspace } from '../../../src/core/snapshot/apply.ts';
import {
  act,
  extract,
  filesOf,
  fingerprint,
  git,
  repository,
  session,
  snapshot,
  system,
  temporaryFolder,
} from './fixtures.ts';

async function patchOf(work: string, command: string): Promise<string> {
  const base = await snapshot(work);
  const opened = await session(base);
  await act(opened, command);
  return (await extract(opened, base)).patch;
}

describe("applying to the user's files", () => {
  test('byte for byte, with modes, without the index, filters or hooks', async () => {
    const work = repository({
      'a.txt': 'a\n',
      'crlf.txt': 'one\r\ntwo\r\n',
      'gone/x.txt': 'x\n',
      'swap/inner.txt': 'i\n',
      'run.sh': 'echo\n',
      'private.txt': 'p\n',
      'l1.txt': Buffer.from([0xe4, 10]),
    });
    const canary = join(temporaryFolder(), 'canary');
    chmodSync(join(work, 'private.txt'), 0o600);
    const patch = await patchOf(
      work,
      `
      echo b > a.txt; printf 'one\\r\\nTWO\\r\\n' > crlf.txt; rm -r gone; rm -r swap; echo file > swap; chmod +x run.sh
      echo q > private.txt; mkdir -p new/deep; echo n > new/deep/n.txt; ln -s a.txt link; printf '\\xfc\\n' > l1.txt
    `,
    );
    git(work, 'config', 'filter.x.smudge', `touch ${canary}; cat`);
    git(work, 'config', 'filter.x.clean', `touch ${canary}; cat`);
    git(work, 'config', 'core.fsmonitor', `touch ${canary}; false`);
    git(work, 'config', 'core.autocrlf', 'true');
    writeFileSync(join(work, '.git/info/attributes'), '* filter=x text eol=crlf\n');
    writeFileSync(join(work, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch ${canary}\n`, {
      mode: 0o755,
    });
    const before = fingerprint(join(work, '.git'));
    const check = await applyPatchToWorkspace(work, patch, { check: true });
    expect(check.kind).toBe('applicable');
    expect(readFileSync(join(work, 'a.txt'), 'utf8')).toBe('a\n');
    const outcome = await applyPatchToWorkspace(work, patch);
    expect(outcome).toEqual({
      kind: 'applied',
      files: [
        'a.txt',
        'crlf.txt',
        'gone/x.txt',
        'l1.txt',
        'link',
        'new/deep/n.txt',
        'private.txt',
        'run.sh',
        'swap',
        'swap/inner.txt',
      ],
    });
    expect(filesOf(work)).toEqual({
      'a.txt': 'b\n',
      'crlf.txt': 'one\r\nTWO\r\n',
      'l1.txt': '\xfc\n',
      link: '-> a.txt',
      'new/deep/n.txt': 'n\n',
      'private.txt': 'q\n',
      'run.sh': 'x echo\n',
      swap: 'file\n',
    });
    expect(statSync(join(work, 'private.txt')).mode & 0o777).toBe(0o600);
    expect(existsSync(join(work, 'gone'))).toBe(false);
    expect(fingerprint(join(work, '.git'))).toBe(before);
    expect(existsSync(canary)).toBe(false);
  });

  test('refuses everything if one file changed meanwhile, even where the hunks would fit', async () => {
    const lines = Array.from({ length: 40 }, (_, at) => `${at}\n`).join('');
    const work = repository({
      'a.txt': lines,
      'b.txt': 'b\n',
      'c.txt': 'c\n',
      'd.txt': 'd\n',
      'e.txt': 'e\n',
    });
    const patch = await patchOf(
      work,
      'sed -i 1d a.txt; echo B > b.txt; rm c.txt d.txt; echo n > new.txt; echo E > e.txt',
    );
    appendFileSync(join(work, 'a.txt'), 'more\n');
    rmSync(join(work, 'c.txt'));
    writeFileSync(join(work, 'new.txt'), 'mine\n');
    rmSync(join(work, 'e.txt'));
    mkdirSync(join(work, 'e.txt'));
    const before = fingerprint(work);
    expect(await applyPatchToWorkspace(work, patch)).toMatchObject({
      kind: 'conflict',
      conflicts: [{ path: 'e.txt' }],
    });
    rmSync(join(work, 'e.txt'), { recursive: true });
    writeFileSync(join(work, 'e.txt'), 'e\n');
    const again = fingerprint(work);
    expect(await applyPatchToWorkspace(work, patch)).toEqual({
      kind: 'conflict',
      reason:
        'The patch does not fit: a.txt has changed since the snapshot; c.txt is missing now; new.txt exists now.',
      conflicts: [
        { path: 'a.txt', reason: 'has changed since the snapshot' },
        { path: 'c.txt', reason: 'is missing now' },
        { path: 'new.txt', reason: 'exists now' },
      ],
    });
    expect(fingerprint(work)).toBe(again);
    expect(again).not.toBe(before);
  });

  test('never writes through a link, nor twice', async () => {
    const work = repository({ 'folder/a.txt': 'a\n', 'b.txt': 'b\n' });
    const patch = await patchOf(work, 'echo x > folder/a.txt');
    const outside = temporaryFolder();
    writeFileSync(join(outside, 'a.txt'), 'a\n');
    rmSync(join(work, 'folder'), { recursive: true });
    symlinkSync(outside, join(work, 'folder'));
    expect(await applyPatchToWorkspace(work, patch)).toMatchObject({
      kind: 'conflict',
      reason: expect.stringContaining('folder is a symbolic link'),
    });
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('a\n');
    const other = await patchOf(work, 'echo x > b.txt');
    expect((await applyPatchToWorkspace(work, other)).kind).toBe('applied');
    expect((await applyPatchToWorkspace(work, other)).kind).toBe('conflict');
  });

  test('a failure in the middle undoes what was done', async () => {
    const work = repository({ 'a.txt': 'a\n', 'gone/b.txt': 'b\n', 'z/locked.txt': 'z\n' });
    const patch = await patchOf(
      work,
      'echo A > a.txt; rm -r gone; echo Z > z/locked.txt; echo n > new.txt',
    );
    const locked = join(work, 'z');
    // Root may write everywhere, but nobody renames onto an immutable file or into a mount of its own.
    const lock =
      process.getuid?.() === 0
        ? () => system('mount', '--bind', locked, locked)
        : () => chmodSync(locked, 0o555);
    const unlock =
      process.getuid?.() === 0 ? () => system('umount', locked) : () => chmodSync(locked, 0o755);
    lock();
    onTestFinished(() => void unlock());
    const content = filesOf(work);
    const outcome = await applyPatchToWorkspace(work, patch);
    expect(outcome).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('Your files are unchanged'),
    });
    expect(filesOf(work)).toEqual(content);
    expect(readdirSync(work).sort()).toEqual(['.git', 'a.txt', 'gone', 'z']);
  });

  test('an owner who is not root keeps their files when root applies', async () => {
    if (process.getuid?.() !== 0) {
      expect(process.getuid?.()).toBeGreaterThan(0);
      return;
    }
    const work = repository({ 'a.txt': 'a\n' });
    const patch = await patchOf(work, 'echo b > a.txt; mkdir d; echo n > d/new.txt');
    system('chown', '-R', '65534:65534', work);
    expect((await applyPatchToWorkspace(work, patch)).kind).toBe('applied');
    expect(lstatSync(join(work, 'a.txt')).uid).toBe(65534);
    expect(lstatSync(join(work, 'd')).uid).toBe(65534);
    expect(lstatSync(join(work, 'd/new.txt')).uid).toBe(65534);
  });

  test('an empty patch, and one that is none', async () => {
    const work = repository({ 'a.txt': 'a\n' });
    expect(await applyPatchToWorkspace(work, '')).toEqual({ kind: 'applied', files: [] });
    expect((await applyPatchToWorkspace(work, 'no patch')).kind).toBe('malformed');
  });
});
