import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import {
  filesOf,
  fingerprint,
  git,
  repository,
  snapshot,
  system,
  temporaryFolder,
  write,
} from './fixtures.ts';

/** The table of docs/snapshot.md, row by row. */
describe('what a snapshot holds', () => {
  test('uncommitted, staged, untracked, deleted and renamed files as they are on disk', async () => {
    const work = repository({ 'a.js': 'a', 'b.js': 'b', 'c.js': 'c', 'd.js': 'd', 'run.sh': 'r' });
    write(work, { 'a.js': 'changed', 'new/deep.js': 'untracked', 'staged.js': 'staged' });
    git(work, 'add', 'staged.js');
    rmSync(join(work, 'b.js'));
    git(work, 'mv', 'c.js', 'c2.js');
    renameSync(join(work, 'd.js'), join(work, 'D.js'));
    chmodSync(join(work, 'run.sh'), 0o755);
    const base = await snapshot(work);
    expect(filesOf(base.tree)).toEqual({
      'a.js': 'changed',
      'c2.js': 'c',
      'D.js': 'd',
      'new/deep.js': 'untracked',
      'run.sh': 'x r',
      'staged.js': 'staged',
    });
    expect(base.skipped).toEqual([]);
  });

  test('one commit without history, remotes or identity, in which nothing is modified', async () => {
    const work = repository({ 'a.js': 'SECRET OF THE PAST' });
    git(work, 'remote', 'add', 'origin', 'https://example.org/x.git');
    git(work, 'config', 'user.email', 'private@example.org');
    write(work, { 'a.js': 'now' });
    git(work, 'commit', '-qam', 'second');
    const base = await snapshot(work);
    expect(git(base.tree, 'log', '--all', '--format=%an %s').trim().split('\n')).toHaveLength(1);
    expect(git(base.tree, 'status', '--porcelain', '--ignored')).toBe('');
    expect(git(base.tree, 'remote')).toBe('');
    expect(git(base.tree, 'fsck', '--full', '--strict')).toBe('');
    expect(readFileSync(join(base.tree, '.git/config'), 'utf8')).not.toContain('private');
    expect(() => git(base.tree, 'log', 'HEAD~1')).toThrow();
  });

  test('ignored files are left out, tracked ones that match are in, include adds', async () => {
    const work = repository({
      '.gitignore': '*.log\n/build/\n.env*\n',
      'src/.gitignore': 'generated.js\n',
      'src/a.js': '',
      'keep.txt': '',
    });
    write(work, {
      'tracked.log': 'kept',
      'x.log': 'no',
      'build/o.js': 'no',
      '.env': 'PASSWORD=1',
      '.env.test': 'A=1',
      'src/generated.js': 'g',
    });
    git(work, 'add', '-f', 'tracked.log');
    expect(Object.keys(filesOf((await snapshot(work)).tree))).toEqual([
      '.gitignore',
      'keep.txt',
      'src/.gitignore',
      'src/a.js',
      'tracked.log',
    ]);
    const more = await snapshot(work, { include: ['.env.test', 'src/generated.js', '/build/'] });
    expect(Object.keys(filesOf(more.tree))).toEqual([
      '.env.test',
      '.gitignore',
      'build/o.js',
      'keep.txt',
      'src/.gitignore',
      'src/a.js',
      'src/generated.js',
      'tracked.log',
    ]);
  });

  test('a repository without commits, and one with an empty working tree', async () => {
    const work = join(temporaryFolder(), 'work');
    mkdirSync(work);
    git(work, 'init', '-q');
    expect(filesOf((await snapshot(work)).tree)).toEqual({});
    write(work, { 'a.js': 'a' });
    const base = await snapshot(work);
    expect(filesOf(base.tree)).toEqual({ 'a.js': 'a' });
    expect(git(base.tree, 'ls-tree', '-r', '--name-only', 'HEAD')).toBe('a.js\n');
  });

  test('a folder without git: its .gitignore counts, and what nobody wants is left out', async () => {
    const work = join(temporaryFolder(), 'work');
    write(work, {
      '.gitignore': 'out/\n',
      'a.py': 'a',
      'out/x': '',
      'node_modules/x/i.js': '',
      '__pycache__/a.pyc': '',
      '.env': 'PASSWORD=1',
      '.env.example': 'PASSWORD=',
      'env/pyvenv.cfg': '',
      'env/lib/x.py': '',
    });
    const base = await snapshot(work);
    expect(Object.keys(filesOf(base.tree))).toEqual(['.env.example', '.gitignore', 'a.py']);
    expect(base.dependencies.map(({ path }) => path)).toEqual(['env', 'node_modules']);
  });

  test('submodules and nested repositories are plain files', async () => {
    const library = repository({ 'lib.js': 'lib', '.gitignore': 'tmp/\n' });
    const work = repository({ 'a.js': 'a' });
    git(work, 'submodule', '--quiet', 'add', library, 'deps-src/library');
    git(work, 'submodule', '--quiet', 'add', library, 'not-here');
    git(work, 'commit', '-qm', 'submodules');
    git(work, 'submodule', '--quiet', 'deinit', '-f', 'not-here');
    write(work, { 'deps-src/library/untracked.js': 'u', 'deps-src/library/tmp/x': 'ignored' });
    mkdirSync(join(work, 'nested'));
    git(join(work, 'nested'), 'init', '-q');
    write(work, { 'nested/n.js': 'n', 'nested/.gitignore': '*.tmp\n', 'nested/x.tmp': '' });
    const base = await snapshot(work);
    expect(Object.keys(filesOf(base.tree))).toEqual([
      '.gitmodules',
      'a.js',
      'deps-src/library/.gitignore',
      'deps-src/library/lib.js',
      'deps-src/library/untracked.js',
      'nested/.gitignore',
      'nested/n.js',
    ]);
    expect(git(base.tree, 'ls-files', '-s')).not.toContain('160000');
  });

  test('worktrees, shallow and sparse clones', async () => {
    const origin = repository({ 'a.js': 'a', 'big/b.js': 'b' });
    write(origin, { 'a.js': 'a2' });
    git(origin, 'commit', '-qam', 'second');
    const side = dirname(origin);
    git(origin, 'worktree', 'add', '-q', join(side, 'tree'), 'HEAD~1');
    expect(filesOf((await snapshot(join(side, 'tree'))).tree)).toEqual({
      'a.js': 'a',
      'big/b.js': 'b',
    });
    git(side, 'clone', '-q', '--depth', '1', `file://${origin}`, 'shallow');
    expect(filesOf((await snapshot(join(side, 'shallow'))).tree)).toEqual({
      'a.js': 'a2',
      'big/b.js': 'b',
    });
    git(side, 'clone', '-q', '--filter=blob:none', '--sparse', `file://${origin}`, 'sparse');
    expect(filesOf((await snapshot(join(side, 'sparse'))).tree)).toEqual({ 'a.js': 'a2' });
  });

  test('bytes stay as they are whatever the attributes say: CRLF, LFS, encodings, ident', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 1\n`;
    const work = repository({ 'plain.txt': 'x' });
    const files = {
      '.gitattributes':
        '* text=auto eol=lf\n*.crlf text eol=crlf\n*.bin filter=lfs diff=lfs merge=lfs -text\n*.utf16 working-tree-encoding=UTF-16 text\n*.id ident\n',
      'a.crlf': 'one\ntwo\r\n',
      'b.txt': 'one\r\ntwo\r\n',
      'c.bin': pointer,
      'd.utf16': Buffer.from('not UTF-16 at all'),
      'e.id': '$Id$\n',
      'f.raw': Buffer.from([0, 255, 13, 10, 10]),
    };
    write(work, files);
    const base = await snapshot(work);
    for (const [path, content] of Object.entries(files)) {
      expect(readFileSync(join(base.tree, path)), path).toEqual(Buffer.from(content));
      const stored = execFileSync('git', ['cat-file', 'blob', `HEAD:${path}`], { cwd: base.tree });
      expect(stored, path).toEqual(Buffer.from(content));
    }
    expect(git(base.tree, 'status', '--porcelain')).toBe('');
  });

  test('links stay links: dangling, looping, absolute, leading outside', async () => {
    const work = repository({ 'a.js': 'a', 'folder/b.js': 'b' });
    const links = {
      dangling: 'nowhere',
      loop: 'loop',
      'loop-a': 'loop-b',
      'loop-b': 'loop-a',
      absolute: '/etc/passwd',
      outside: '../../..',
      'folder-link': 'folder',
      inside: 'a.js',
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(work, name));
    const held = filesOf((await snapshot(work)).tree);
    for (const [name, target] of Object.entries(links)) expect(held[name]).toBe(`-> ${target}`);
  });

  test('a tracked folder that became a link holds nothing of what the link leads to', async () => {
    const work = repository({ 'folder/b.js': 'b', '.gitignore': 'folder\n' });
    const elsewhere = temporaryFolder();
    write(elsewhere, { 'b.js': 'PRIVATE' });
    rmSync(join(work, 'folder'), { recursive: true });
    symlinkSync(elsewhere, join(work, 'folder'));
    expect(JSON.stringify(filesOf((await snapshot(work)).tree))).not.toContain('PRIVATE');
  });

  test('sockets, pipes, unreadable and huge files are left out and named', async () => {
    const work = repository({ 'a.js': 'a' });
    system('mkfifo', join(work, 'pipe'));
    const server = createServer().listen(join(work, 'socket'));
    onTestFinished(() => void server.close());
    await new Promise((done) => server.once('listening', done));
    writeFileSync(join(work, 'huge.bin'), Buffer.alloc(20_000));
    const base = await snapshot(work, { limits: { fileBytes: 10_000, totalBytes: 1e6 } });
    expect(Object.keys(filesOf(base.tree))).toEqual(['a.js']);
    // git itself does not list sockets and pipes.
    expect(base.skipped).toEqual([{ path: 'huge.bin', reason: 'larger than 10 KB (20 KB)' }]);
    const all = await makeBase(work, {
      stateDir: join(dirname(work), 'state'),
      limits: { fileBytes: 1e6, totalBytes: 10_000 },
    });
    expect(all).toMatchObject({
      kind: 'problem',
      code: 'too-large',
      reason: expect.stringContaining('huge.bin (20 KB)'),
    });
  });

  test('unreadable files are left out and named, unless root reads them', async () => {
    const work = repository({ 'a.js': 'a', 'locked.js': 'l' });
    chmodSync(join(work, 'locked.js'), 0o000);
    const base = await snapshot(work);
    const root = process.getuid?.() === 0;
    expect(Object.keys(filesOf(base.tree))).toEqual(root ? ['a.js', 'locked.js'] : ['a.js']);
    expect(base.skipped).toEqual(root ? [] : [{ path: 'locked.js', reason: 'cannot be read' }]);
  });

  test('a merge with conflicts, an intent to add, and a link that git refuses', async () => {
    const work = repository({ 'a.js': 'a\n' });
    git(work, 'checkout', '-q', '-b', 'other');
    write(work, { 'a.js': 'other\n' });
    git(work, 'commit', '-qam', 'other');
    git(work, 'checkout', '-q', 'trunk');
    write(work, { 'a.js': 'trunk\n' });
    git(work, 'commit', '-qam', 'trunk');
    expect(() => git(work, 'merge', '-q', 'other')).toThrow();
    write(work, { 'later.js': 'later\n' });
    git(work, 'add', '-N', 'later.js');
    symlinkSync('a.js', join(work, '.gitmodules'));
    const held = filesOf((await snapshot(work)).tree);
    expect(held['a.js']).toContain('<<<<<<<');
    expect(held).toMatchObject({ 'later.js': 'later\n', '.gitmodules': '-> a.js' });
  });

  test('a tracked file that became a pipe is named', async () => {
    const work = repository({ 'a.js': 'a', 'b.js': 'b' });
    rmSync(join(work, 'b.js'));
    system('mkfifo', join(work, 'b.js'));
    expect((await snapshot(work)).skipped).toEqual([
      { path: 'b.js', reason: 'a named pipe, not a file' },
    ]);
  });

  test('names with newlines, quotes, leading dashes, spaces and bytes that are not UTF-8', async () => {
    const work = repository({ 'a.js': 'a' });
    const names = [
      'new\nline',
      '"quoted" \'it\'',
      '-rf',
      ' space ',
      'tab\there',
      'ünï',
      '*[glob]?',
      'back\\slash',
      ':colon',
      'git~1',
    ];
    for (const name of names) writeFileSync(join(work, name), name);
    const base = await snapshot(work);
    const held = filesOf(base.tree);
    for (const name of names) expect(held[name], name).toBe(Buffer.from(name).toString('latin1'));
    expect(git(base.tree, 'status', '--porcelain')).toBe('');
    expect(git(base.tree, 'ls-files', '-z').split('\0')).toHaveLength(names.length + 2);
  });

  test('names that are not UTF-8', async () => {
    const work = repository({ 'a.js': 'a' });
    const inside = (folder: string) =>
      Buffer.concat([Buffer.from(`${folder}/odd-`), Buffer.from([0xff, 0xfe])]);
    writeFileSync(inside(work), 'odd');
    const base = await snapshot(work);
    expect(readFileSync(inside(base.tree), 'utf8')).toBe('odd');
    expect(git(base.tree, 'status', '--porcelain')).toBe('');
    expect(git(base.tree, 'ls-files')).toContain('"odd-\\377\\376"');
  });

  test('a folder of a repository: the folder alone, at its own path', async () => {
    const work = repository({
      'packages/a/a.js': 'a',
      'packages/b/b.js': 'b',
      '.gitignore': '*.log\n',
    });
    write(work, { 'packages/a/x.log': '' });
    const outcome = await makeBase(join(work, 'packages/a'), {
      stateDir: join(dirname(work), 'state'),
    });
    if (outcome.kind !== 'base') throw new Error(outcome.reason);
    expect(filesOf(outcome.base.tree)).toEqual({ 'a.js': 'a' });
    expect(outcome.base.workspacePath).toBe(join(work, 'packages/a'));
    expect(outcome.base.enclosingRepository).toBe(work);
    expect(outcome.notes.join()).toContain('not the rest of the repository');
  });

  test('a project inside of a repository that ignores it (dotfiles in the home folder)', async () => {
    const home = repository({ 'a.txt': '' });
    write(home, { '.gitignore': '*\n', 'project/a.js': 'a' });
    expect(filesOf((await snapshot(join(home, 'project'))).tree)).toEqual({ 'a.js': 'a' });
  });

  test('a broken .git does not hide the files', async () => {
    const work = join(temporaryFolder(), 'work');
    write(work, { 'a.js': 'a', '.git': 'gitdir: /nonexistent/worktree\n' });
    expect(filesOf((await snapshot(work)).tree)).toEqual({ 'a.js': 'a' });
  });

  test('a read-only workspace', async () => {
    const work = repository({ 'a.js': 'a' });
    system('chmod', '-R', 'a-w', work);
    onTestFinished(() => void system('chmod', '-R', 'u+w', work));
    const before = fingerprint(work);
    expect(filesOf((await snapshot(work)).tree)).toEqual({ 'a.js': 'a' });
    expect(fingerprint(work)).toBe(before);
  });

  test('dependency folders are found at every depth without being walked', async () => {
    const work = repository({
      '.gitignore': 'node_modules\n.venv/\n/myenv/\ntarget/\nvendor/\nbuild/\n*.egg-info/\n',
      'a.js': '',
      'packages/p/p.js': '',
    });
    write(work, {
      'node_modules/x/i.js': '',
      'packages/p/node_modules/y/i.js': '',
      '.venv/pyvenv.cfg': '',
      'myenv/pyvenv.cfg': '',
      'target/debug/x': '',
      'vendor/v.go': '',
      'build/out.js': '',
      'src/p.egg-info/PKG-INFO': '',
      'selfish/.gitignore': '*\n',
      'selfish/pyvenv.cfg': '',
      'selfish/lib/x.py': '',
      'forgotten/pyvenv.cfg': '',
      'forgotten/x.py': '',
    });
    const shared = temporaryFolder();
    symlinkSync(shared, join(work, 'packages/node_modules'));
    const base = await snapshot(work);
    expect(Object.keys(filesOf(base.tree))).toEqual(['.gitignore', 'a.js', 'packages/p/p.js']);
    expect(base.dependencies).toEqual(
      [
        '.venv',
        'forgotten',
        'myenv',
        'node_modules',
        'packages/node_modules',
        'packages/p/node_modules',
        'selfish',
        'src/p.egg-info',
        'target',
        'vendor',
      ].map((path) => ({
        path,
        hostPath: path === 'packages/node_modules' ? shared : join(work, path),
      })),
    );
  });

  test('tracked files in a folder named like dependencies stay files', async () => {
    const work = repository({
      '.gitignore': '*.log\n/node_modules/*\n',
      'vendor/v.go': 'v',
      'a.js': '',
    });
    write(work, {
      'vendor/x.log': '',
      'node_modules/own/i.js': 'mine',
      'node_modules/other/i.js': 'other',
    });
    git(work, 'add', '-f', 'node_modules/own/i.js');
    const base = await snapshot(work);
    expect(filesOf(base.tree)).toMatchObject({
      'vendor/v.go': 'v',
      'node_modules/own/i.js': 'mine',
    });
    expect(base.dependencies.map(({ path }) => path)).toEqual(['node_modules/other']);
  });

  test("another user's repository is refused with what to do", async () => {
    if (process.getuid?.() !== 0) {
      // Only root can give files away; git then asks about the owner of a folder of root's.
      const outcome = await makeBase('/', {
        stateDir: join(temporaryFolder(), 'state'),
        limits: { fileBytes: 1, totalBytes: 1 },
      }).catch((error: unknown) => error);
      expect(outcome).toBeDefined();
      return;
    }
    const work = repository({ 'a.js': 'a' });
    chownSync(work, 65534, 65534);
    chownSync(join(work, '.git'), 65534, 65534);
    const home = temporaryFolder();
    const saved = { HOME: process.env.HOME, XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME };
    onTestFinished(() => void Object.assign(process.env, saved));
    process.env.HOME = home;
    delete process.env.XDG_CONFIG_HOME;
    const stateDir = join(dirname(work), 'state');
    const outcome = await makeBase(work, { stateDir });
    expect(outcome).toEqual({
      kind: 'problem',
      code: 'git-refused',
      reason: `git will not read ${work}, because it belongs to another user.`,
      remedy: `If you trust it: git config --global --add safe.directory "${work}"`,
    });
    appendFileSync(join(home, '.gitconfig'), `[safe]\n\tdirectory = ${work}\n`);
    expect((await makeBase(work, { stateDir })).kind).toBe('base');
  });

  test('what is not a folder is said to be none', async () => {
    const folder = temporaryFolder();
    const stateDir = join(folder, 'state');
    expect(await makeBase(join(folder, 'nothing'), { stateDir })).toMatchObject({
      kind: 'problem',
      code: 'not-a-folder',
    });
  });
});
