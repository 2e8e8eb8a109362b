import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPython } from '../../../src/core/frameworks/pytest/toolchain.ts';
import { openWorkspaceFiles } from '../../../src/core/frameworks/workspace-files.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';

const git = (cwd: string, ...args: string[]) =>
  execFileSync(
    'git',
    ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.allow=never', ...args],
    {
      cwd,
      stdio: 'pipe',
    },
  );

/** A program that leaves a trace when somebody starts it. */
async function trap(path: string, trace: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\necho started >> ${trace}\nexit 1\n`);
  await chmod(path, 0o755);
}

describe('somebody else’s repository', () => {
  it('runs nothing when its files are listed, even when git needs objects that are missing', async () => {
    const folder = await tempFolder();
    const root = join(folder, 'work');
    const trace = join(folder, 'trace');
    await writeFiles(root, { 'a/x.txt': 'x', 'b/y.txt': 'y', 'top.txt': 't' });
    await trap(join(folder, 'evil.sh'), trace);
    git(root, 'init', '-q');
    git(root, 'add', '-A');
    git(root, 'commit', '-qm', 'x');
    git(root, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'a');
    const tree = execFileSync('git', ['rev-parse', 'HEAD:b'], {
      cwd: root,
      encoding: 'utf8',
    }).trim();
    execFileSync('rm', ['-f', join(root, '.git/objects', tree.slice(0, 2), tree.slice(2))]);
    git(root, 'config', 'extensions.partialClone', 'origin');
    git(root, 'config', 'core.repositoryFormatVersion', '1');
    git(root, 'config', 'remote.origin.url', folder);
    git(root, 'config', 'remote.origin.promisor', 'true');
    git(root, 'config', 'remote.origin.uploadpack', join(folder, 'evil.sh'));
    await openWorkspaceFiles(root).files();
    expect(await readdir(folder)).not.toContain('trace');
  });

  it('does not have its own interpreter started, and says so', async () => {
    const folder = await tempFolder();
    const root = join(folder, 'work');
    const trace = join(folder, 'trace');
    await writeFiles(root, { 'test_a.py': 'def test_a(): pass\n' });
    await mkdir(join(root, '.venv/bin'), { recursive: true });
    await trap(join(root, '.venv/bin/python'), trace);
    git(root, 'init', '-q');
    git(root, 'add', '-A');
    git(root, 'commit', '-qm', 'x');
    const found = await findPython(openWorkspaceFiles(root), {
      env: { PATH: '/nonexistent' },
      home: folder,
    } as never);
    expect(await readdir(folder)).not.toContain('trace');
    expect(found).toMatchObject({
      kind: 'missing',
      reason: expect.stringContaining('part of the repository'),
    });
  });
});
