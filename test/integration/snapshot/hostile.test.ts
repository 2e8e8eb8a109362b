import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { filesOf, fingerprint, git, repository, snapshot, temporaryFolder } from './fixtures.ts';

test('a repository whose settings would run code runs none, and its .git stays as it is', async () => {
  const work = repository({
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    '.gitattributes': '* filter=evil diff=evil\n',
  });
  const canary = join(temporaryFolder(), 'canary');
  const evil = join(work, '.git/evil.sh');
  writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> ${canary}\ncat\n`, { mode: 0o755 });
  for (const name of [
    'filter.evil.clean',
    'filter.evil.smudge',
    'filter.evil.process',
    'diff.evil.textconv',
    'diff.evil.command',
    'diff.external',
    'core.fsmonitor',
    'core.sshCommand',
    'core.askPass',
    'core.pager',
    'core.editor',
    'gpg.program',
    'credential.helper',
    'uploadpack.packObjectsHook',
    'core.alternateRefsCommand',
  ]) {
    git(work, 'config', name, evil);
  }
  git(work, 'config', 'filter.evil.required', 'true');
  git(work, 'config', 'core.hooksPath', join(work, '.git/hooks'));
  git(work, 'config', 'core.untrackedCache', 'true');
  git(work, 'config', 'alias.ls-files', `!${evil}`);
  // A promisor remote: missing objects would be fetched by a command of the repository's choice.
  git(work, 'config', 'remote.origin.url', `ext::${evil}`);
  git(work, 'config', 'remote.origin.promisor', 'true');
  git(work, 'config', 'protocol.ext.allow', 'always');
  mkdirSync(join(work, '.git/hooks'), { recursive: true });
  for (const hook of [
    'post-index-change',
    'pre-commit',
    'post-checkout',
    'fsmonitor-watchman',
    'reference-transaction',
  ]) {
    writeFileSync(join(work, '.git/hooks', hook), `#!/bin/sh\n${evil} ${hook}\n`, { mode: 0o755 });
  }
  writeFileSync(join(work, 'a.txt'), 'changed\n');
  writeFileSync(join(work, 'new.txt'), 'new\n');
  mkdirSync(join(work, 'nested'));
  git(join(work, 'nested'), 'init', '-q');
  git(join(work, 'nested'), 'config', 'core.fsmonitor', evil);
  git(join(work, 'nested'), 'config', 'core.worktree', '/etc');
  writeFileSync(join(work, 'nested/n.txt'), 'n\n');

  const before = fingerprint(work);
  const first = await snapshot(work);
  writeFileSync(join(work, 'a.txt'), 'again\n');
  const changed = fingerprint(join(work, '.git'));
  const second = await snapshot(work);
  expect(second.id).not.toBe(first.id);
  expect(existsSync(canary)).toBe(false);
  expect(fingerprint(join(work, '.git'))).toBe(changed);
  writeFileSync(join(work, 'a.txt'), 'again\n');
  expect(before).not.toBe('');
  expect(filesOf(second.tree)).toEqual({
    '.gitattributes': '* filter=evil diff=evil\n',
    'a.txt': 'again\n',
    'b.txt': 'b\n',
    'nested/n.txt': 'n\n',
    'new.txt': 'new\n',
  });
  // The canary can sing: plain git would have run it.
  expect(() => git(work, 'status')).toThrow();
  expect(existsSync(canary)).toBe(true);
});

test('the whole repository is byte-identical, objects and index included', async () => {
  const work = repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  writeFileSync(join(work, 'a.txt'), 'changed\n');
  const before = fingerprint(work);
  await snapshot(work);
  expect(fingerprint(work)).toBe(before);
});

test('variables of git in the environment do not lead it elsewhere', async () => {
  const work = repository({ 'a.txt': 'a\n' });
  const other = repository({ 'private.txt': 'p\n' });
  const names = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_EXTERNAL_DIFF'] as const;
  onTestFinished(() => {
    for (const name of names) delete process.env[name];
  });
  process.env.GIT_DIR = join(other, '.git');
  process.env.GIT_WORK_TREE = other;
  process.env.GIT_INDEX_FILE = join(other, '.git/index');
  process.env.GIT_EXTERNAL_DIFF = 'false';
  expect(filesOf((await snapshot(work)).tree)).toEqual({ 'a.txt': 'a\n' });
});
