import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { applyPatch, extractPatch, splitPatch } from '../../../src/core/snapshot/patch.ts';
import {
  act,
  extract,
  filesIn,
  repository,
  session,
  snapshot,
  temporaryFolder,
  write,
} from './fixtures.ts';

const LINES = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join('');

describe('a patch of a session', () => {
  test('says nothing where nothing changed, also after commits, touches and checkouts', async () => {
    const work = repository({ 'a.js': 'a\n', 'b.js': 'b\n' });
    const base = await snapshot(work);
    const opened = await session(base);
    expect(await extract(opened, base)).toEqual({
      kind: 'patch',
      patch: '',
      files: [],
      ignored: [],
      skipped: [],
    });
    await act(
      opened,
      'touch a.js; git rm -q --cached b.js; git commit -q --allow-empty -m x; cp -p a.js t; mv t a.js',
    );
    expect((await extract(opened, base)).patch).toBe('');
  });

  test.each(['none', 'local'] as const)(
    'goes through a fresh session byte for byte (%s)',
    async (kind) => {
      const work = repository({
        'text.js': LINES,
        'crlf.txt': 'one\r\ntwo\r\n',
        'latin1.txt': Buffer.from([0xe4, 0xf6, 10]),
        'bom.txt': '\ufeffx\n',
        'binary.bin': Buffer.from([0, 1, 2, 255]),
        'gone.js': 'gone\n',
        'deep/gone/x.js': 'x\n',
        'mode.sh': 'echo\n',
        'off.sh': 'echo\n',
        'link-me': 'was a file\n',
        'no-newline': 'end',
        empty: '',
        'folder/inner': 'f\n',
        'ünï côdé.txt': 'ä\n',
      });
      const base = await snapshot(work);
      const opened = await session(base, kind);
      await act(
        opened,
        `
      sed -i 's/line 3$/line three/; s/line 27$/line xxvii/' text.js
      printf 'one\\r\\nTWO\\r\\nthree\\n' > crlf.txt
      printf '\\xe4\\xf6\\xfc\\n' > latin1.txt
      printf '\\xef\\xbb\\xbfy\\n' > bom.txt
      printf '\\x00\\x01\\x03' > binary.bin
      rm gone.js; rm -r deep; chmod +x mode.sh
      rm link-me; ln -s text.js link-me
      printf 'other end' > no-newline; printf 'now\\r' > empty
      rm -r folder; printf 'a file\\n' > folder
      printf 'ö\\n' > 'ünï côdé.txt'
      mkdir -p new/sub; printf 'new\\n' > new/sub/file; : > new/empty; printf '#!/bin/sh\\n' > new/run; chmod 755 new/run
      printf 'x\\n' > $'odd\\nname'; printf 'q' > 'quo"ted'; printf 'd\\n' > -dash; printf 's\\n' > ' space '
      head -c 3000 /dev/urandom > random.bin; ln -s ../outside dangling
      printf 'diff --git a/x b/x\\n@@ -1 +1 @@\\n' > tricky.txt; printf 'a\\rb\\342\\200\\250diff --git a/z b/z\\n' > separators.txt
    `,
      );
      const { patch, files, ignored, skipped } = await extract(opened, base);
      expect(ignored).toEqual([]);
      expect(skipped).toEqual([]);
      const status = Object.fromEntries(
        files.map((file) => [file.path, `${file.status}${file.binary ? ' binary' : ''}`]),
      );
      expect(status).toMatchObject({
        'text.js': 'modified',
        'latin1.txt': 'modified binary',
        'binary.bin': 'modified binary',
        'gone.js': 'deleted',
        'deep/gone/x.js': 'deleted',
        'mode.sh': 'modified',
        'link-me': 'modified',
        'new/run': 'added',
        'random.bin': 'added binary',
        'odd\nname': 'added',
        'quo"ted': 'added',
        'ünï côdé.txt': 'modified',
        'folder/inner': 'deleted',
        folder: 'added',
      });
      expect(files).toHaveLength(25);
      const fresh = await session(base, kind);
      expect(await applyPatch(fresh, patch)).toMatchObject({ kind: 'applied' });
      expect(await filesIn(fresh)).toEqual(await filesIn(opened));
      expect((await extract(fresh, base)).patch).toBe(patch);
      // Split and put together again it is the same.
      expect(
        splitPatch(patch)
          .map((part) => part.patch)
          .join(''),
      ).toBe(patch);
      const inTwo = await session(base, kind);
      const parts = splitPatch(patch);
      const joined = (deleted: boolean) =>
        parts
          .filter((part) => (part.status === 'deleted') === deleted)
          .map((part) => part.patch)
          .join('');
      expect(await applyPatch(inTwo, joined(true))).toMatchObject({ kind: 'applied' });
      expect(await applyPatch(inTwo, joined(false))).toMatchObject({ kind: 'applied' });
      expect(await filesIn(inTwo)).toEqual(await filesIn(opened));
    },
  );

  test('names that are not UTF-8 are in it, quoted', async () => {
    const base = await snapshot(repository({ 'a.js': 'a\n' }));
    const opened = await session(base);
    await act(opened, `printf 'x\\n' > $'odd-\\xff'; printf 'ä\\n' > ä.txt`);
    const { patch } = await extract(opened, base);
    expect(patch).toContain('"b/odd-\\377"');
    const fresh = await session(base);
    expect(await applyPatch(fresh, patch)).toMatchObject({ kind: 'applied' });
    expect((await extract(fresh, base)).patch).toBe(patch);
  });

  test('ignored new files are left out and named, by the rules of the base', async () => {
    const work = repository({ '.gitignore': '*.log\n/out/\n', 'a.js': 'a\n' });
    const base = await snapshot(work);
    const opened = await session(base);
    await act(
      opened,
      "mkdir -p out pkg/__pycache__ node_modules/x; : > out/o; : > x.log; : > pkg/__pycache__/a.pyc; : > node_modules/x/i.js; echo a.js > .gitignore; echo '*' > .git/info/exclude; echo b > a.js",
    );
    const { files, ignored } = await extract(opened, base);
    expect(files.map((file) => file.path)).toEqual(['.gitignore', 'a.js']);
    expect([...ignored].sort()).toEqual([
      'node_modules/x/i.js',
      'out/o',
      'pkg/__pycache__/a.pyc',
      'x.log',
    ]);
  });

  test('dependencies of the workspace are not part of it', async () => {
    const work = repository({ '.gitignore': 'node_modules\n', 'a.js': 'a\n' });
    write(work, { 'node_modules/x/i.js': 'i' });
    const base = await snapshot(work);
    const opened = await session(base);
    await act(opened, 'test -e node_modules/x/i.js; echo b > a.js');
    expect((await extract(opened, base)).files.map((file) => file.path)).toEqual(['a.js']);
  });

  test('nothing that the agent did to .git, attributes or configuration matters or runs', async () => {
    const work = repository({ 'a.js': 'a\n', 'b.js': 'b\n', 'c.txt': 'c\n' });
    const base = await snapshot(work);
    const opened = await session(base);
    const canary = join(temporaryFolder(), 'canary');
    await act(
      opened,
      `
      echo changed > a.js; echo same-size > c.txt
      cat > evil.sh <<'X'\n#!/bin/sh\ntouch ${canary}\ncat\nX
      chmod +x evil.sh
      git config diff.external "$PWD/evil.sh"; git config core.fsmonitor "$PWD/evil.sh"; git config filter.x.clean "$PWD/evil.sh"
      git config diff.x.textconv "$PWD/evil.sh"; git config core.hooksPath "$PWD"; git config core.worktree /
      echo '* filter=x diff=x text eol=crlf' > .gitattributes
      printf garbage > .git/index; echo 'ref: refs/heads/gone' > .git/HEAD; rm -rf .git/objects
    `,
    );
    const { files, patch } = await extract(opened, base);
    expect(files.map(({ path, status }) => `${status} ${path}`)).toEqual([
      'added .gitattributes',
      'modified a.js',
      'modified c.txt',
      'added evil.sh',
    ]);
    expect(patch).toContain('+changed\n');
    const fresh = await session(base);
    expect(await applyPatch(fresh, patch)).toMatchObject({ kind: 'applied' });
    expect(Buffer.from(await fresh.files.read('/workspace/a.js', 100)).toString()).toBe(
      'changed\n',
    );
    expect(existsSync(canary)).toBe(false);
    await act(opened, 'rm -rf .git');
    expect((await extract(opened, base)).patch).toBe(patch);
  });

  test.each(['none', 'local'] as const)(
    'a change that hides behind the same size and time is seen (%s)',
    async (kind) => {
      const work = repository({ 'a.js': 'aaaa\n' });
      const base = await snapshot(work);
      const opened = await session(base, kind);
      await act(opened, 'cp -p a.js keep; echo bbbb > a.js; touch -r keep a.js; rm keep');
      expect((await extract(opened, base)).patch).toContain('+bbbb\n');
    },
  );

  test('what printed in between does not damage it: background processes are ended first', async () => {
    const base = await snapshot(repository({ 'a.js': 'a\n' }));
    const opened = await session(base);
    await act(opened, '(while :; do echo noise; sleep 0.01; done) & echo b > a.js');
    expect((await extract(opened, base)).patch).toContain('+b\n');
  });

  test('too large a patch, and files too large to compare, are said to be so', async () => {
    const base = await snapshot(repository({ 'a.js': 'a\n' }));
    const opened = await session(base);
    await act(opened, 'seq 1 20000 > numbers.txt');
    const outcome = await extractPatch(opened, base, { maxPatchBytes: 50_000 });
    expect(outcome).toMatchObject({
      kind: 'too-large',
      reason: expect.stringContaining('more than the 50 KB'),
    });
    await act(opened, 'truncate -s 3G numbers.txt');
    expect(await extractPatch(opened, base)).toMatchObject({
      kind: 'too-large',
      reason: expect.stringContaining('numbers.txt (3.2 GB)'),
    });
  });

  test('unreadable and odd files are named and count as unchanged', async () => {
    const base = await snapshot(repository({ 'a.js': 'a\n', 'd/b.js': 'b\n' }));
    const opened = await session(base);
    await act(opened, 'mkfifo pipe; chmod 000 d');
    const { patch, skipped } = await extract(opened, base);
    await act(opened, 'chmod 755 d');
    expect(patch).toBe('');
    expect(skipped.map(({ path }) => path).sort()).toEqual(['d', 'pipe']);
  });

  test('a removed base is a clear outcome', async () => {
    const base = await snapshot(repository({ 'a.js': 'a\n' }));
    const opened = await session(base);
    const lost = { ...base, tree: join(dirname(base.tree), 'nothing', 'tree') };
    expect(await extractPatch(opened, lost)).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('was removed'),
    });
  });
});

describe('applying to a session', () => {
  test('several patches one after the other; the one that does not fit changes nothing', async () => {
    const base = await snapshot(repository({ 'a.txt': LINES, 'b.txt': 'b\n' }));
    const patchOf = async (command: string): Promise<string> => {
      const opened = await session(base);
      await act(opened, command);
      return (await extract(opened, base)).patch;
    };
    const first = await patchOf("sed -i '2i inserted' a.txt");
    const second = await patchOf("sed -i 's/line 25/LINE 25/' a.txt");
    const third = await patchOf(
      "sed -i 's/^line 25$/other/' a.txt; echo c > b.txt; echo n > new.txt",
    );
    const opened = await session(base);
    expect(await applyPatch(opened, first)).toMatchObject({ kind: 'applied', files: ['a.txt'] });
    expect(await applyPatch(opened, second)).toMatchObject({ kind: 'applied' });
    const before = await filesIn(opened);
    const content = await opened.files.read('/workspace/a.txt', 10_000);
    expect(Buffer.from(content).toString()).toBe(
      LINES.replace('line 2\n', 'inserted\nline 2\n').replace('line 25', 'LINE 25'),
    );
    expect(await applyPatch(opened, third)).toMatchObject({
      kind: 'conflict',
      conflicts: [{ path: 'a.txt', reason: expect.stringContaining('does not match at line') }],
    });
    expect(await filesIn(opened)).toEqual(before);
  });

  test('conflicts name every file: existing, missing, behind a link', async () => {
    const base = await snapshot(repository({ 'a.txt': 'a\n', 'd.txt': 'd\n' }));
    const opened = await session(base);
    await act(opened, 'mkdir sub; echo n > sub/new.txt; rm d.txt; echo b > a.txt');
    const { patch } = await extract(opened, base);
    const other = await session(base);
    await act(other, 'echo other > a.txt; rm d.txt; mkdir elsewhere; ln -s elsewhere sub');
    const parts = splitPatch(patch);
    const outcomes = await Promise.all(parts.map((part) => applyPatch(other, part.patch)));
    expect(
      outcomes.map((outcome) => (outcome.kind === 'conflict' ? outcome.reason : outcome.kind)),
    ).toEqual([
      'The patch does not fit: a.txt does not match at line 1.',
      'The patch does not fit: d.txt is missing or differs.',
      'The patch does not fit: sub/new.txt: sub is a symbolic link.',
    ]);
    expect(await applyPatch(other, `${parts[0]?.patch}${parts[1]?.patch}`)).toMatchObject({
      conflicts: [{ path: 'a.txt' }, { path: 'd.txt' }],
    });
  });

  test('patches that are none, are damaged or lead outside are refused', async () => {
    const base = await snapshot(repository({ 'a.txt': 'a\n' }));
    const opened = await session(base);
    expect(await applyPatch(opened, '')).toEqual({ kind: 'applied', files: [] });
    expect(await applyPatch(opened, 'hello')).toMatchObject({ kind: 'malformed' });
    expect(
      await applyPatch(
        opened,
        'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,9 +1 @@\n-a\n',
      ),
    ).toMatchObject({
      kind: 'malformed',
      reason: expect.stringContaining('damaged'),
    });
    for (const path of ['../x', '/etc/x', '.git/config', 'a/../../x', 'sub/.GIT/hooks/x']) {
      const patch = `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
      expect(await applyPatch(opened, patch), path).toMatchObject({ kind: 'malformed' });
    }
  });
});
