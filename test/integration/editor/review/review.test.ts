import { readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readFeedback, summarizeFeedback } from '../../../../src/core/trajectories/feedback.ts';
import { type OpenReview, openReview, type Tree } from './open.ts';

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index}`);
const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
const BEFORE: Tree = {
  'src/a.js': text(LINES),
  'src/b.js': 'one\ntwo\n',
  'test/add.test.js': 'a\nb\nc\n',
};
const TWO = text(LINES.with(3, 'first').with(20, 'second'));
const twoChanges = (options = {}) => openReview(BEFORE, { ...BEFORE, 'src/a.js': TWO }, options);
const twoFiles = (options = {}) =>
  openReview(BEFORE, { ...BEFORE, 'src/a.js': TWO, 'src/b.js': 'one\n2\n' }, options);

const texts = ({ fake }: OpenReview) => fake.messages.map((message) => message.text);
const last = ({ fake }: OpenReview) => fake.messages.at(-1);
const told = (review: OpenReview, expected: string | RegExp) =>
  expect.poll(() => texts(review).join('\n')).toMatch(expected);
/** Presses this button once it is there, and then no other. */
const press = ({ fake }: OpenReview, button: string) => {
  fake.user.answer = ({ actions }) => {
    if (!actions.includes(button)) return undefined;
    fake.user.answer = () => undefined;
    return button;
  };
};
const feedback = async ({ record }: OpenReview) =>
  (await readFeedback(record)).map((line) => ('files' in line ? [line.kind, line.files] : line));

describe('a review', () => {
  it('shows both sides of every file, and what speaks for the change', async () => {
    const review = await twoFiles();
    const [changes] = review.fake.executed.filter(({ id }) => id === 'vscode.changes');
    expect(changes?.args[0]).toBe('Review: adds');
    expect(
      JSON.parse(JSON.stringify(changes?.args[1])).map((row: { scheme: string; path: string }[]) =>
        row.map(({ scheme, path }) => `${scheme}:${path.replace(review.root, '')}`),
      ),
    ).toEqual([
      ['file:/src/a.js', 'file:/src/a.js', 'prime-agent-review:/src/a.js'],
      ['file:/src/b.js', 'file:/src/b.js', 'prime-agent-review:/src/b.js'],
    ]);
    expect(await review.proposed('src/a.js')).toBe(TWO);
    expect(await review.rows()).toEqual([
      'Review: adds | solved',
      '  The test passes now | 4 others still pass',
      '    adds | failed before, passes now',
      '  a.js | src · 2 changes',
      '    first | line 4 · +1 −1',
      '    second | line 21 · +1 −1',
      '  b.js | src · 1 change',
      '    2 | line 2 · +1 −1',
    ]);
    expect(review.fake.trees.get('primeAgent.reviewView')?.view.badge).toMatchObject({ value: 3 });
    await review.run('primeAgent.showEvidence');
    const [preview] = review.fake.executed.filter(({ id }) => id === 'markdown.showPreview');
    const document = await review.fake.vs.workspace.openTextDocument(preview?.args[0] as never);
    expect(document.getText()).toContain('> The sign was wrong.');
    expect(document.getText()).toContain('expected: 5\n  actual: -1');
    expect(review.fake.messages).toEqual([]);
  });

  it('is accepted as a whole with one edit, saved, tested and recorded', async () => {
    const review = await twoFiles();
    await review.run('primeAgent.acceptAll');
    await told(review, 'Accepted. The test passes in the workspace.');
    expect(await review.read('src/a.js')).toBe(TWO);
    expect(await review.read('src/b.js')).toBe('one\n2\n');
    expect(review.runs).toEqual([['test/add.test.js::adds']]);
    expect(review.fake.tabs).toEqual([]);
    await expect
      .poll(() => feedback(review))
      .toMatchObject([
        [
          'accepted',
          [
            { path: 'src/a.js', changes: [0, 1], of: 2 },
            { path: 'src/b.js', changes: [0], of: 1 },
          ],
        ],
        { kind: 'tested', passed: 1, failed: 0 },
      ]);
  });

  it('is discarded without a trace in the workspace', async () => {
    const review = await twoFiles();
    await review.run('primeAgent.discardAll');
    expect(texts(review)).toEqual(['Discarded. Your files are as they were.']);
    expect(await review.read('src/a.js')).toBe(BEFORE['src/a.js']);
    expect(review.runs).toEqual([]);
    await expect
      .poll(async () => summarizeFeedback(await readFeedback(review.record)).verdict)
      .toBe('discarded');
  });

  it('can be asked for again after it was discarded', async () => {
    const review = await twoChanges();
    await review.run('primeAgent.discardAll');
    expect(await review.rows()).toContain('Review: adds | solved · discarded');
    await review.again();
    expect(await review.rows()).toContain('    first | line 4 · +1 −1');
    await review.run('primeAgent.acceptAll');
    expect(await review.read('src/a.js')).toBe(TWO);
  });

  it('takes one change of two, whichever it is, and tests when both are decided', async () => {
    const review = await twoChanges();
    await review.run('primeAgent.acceptChange', await review.row('second'));
    expect(await review.read('src/a.js')).toBe(text(LINES.with(20, 'second')));
    expect(review.runs).toEqual([]);
    expect(await review.proposed('src/a.js')).toBe(TWO);
    await review.run('primeAgent.discardChange', await review.row('first'));
    await told(review, '1 of 2 changes accepted. The test passes in the workspace.');
    expect(await review.read('src/a.js')).toBe(text(LINES.with(20, 'second')));
    expect(await review.rows()).toContain('    first | line 4 · +1 −1 · discarded');
    const summary = summarizeFeedback(await readFeedback(review.record));
    expect(summary).toMatchObject({ verdict: 'partly accepted', accepted: 1, discarded: 1 });
  });

  it('takes the change at the cursor, in the file and in what it would become', async () => {
    const review = await twoChanges();
    review.fake.openEditor(review.path('src/a.js'), 20);
    await review.run('primeAgent.acceptChange');
    expect(await review.read('src/a.js')).toBe(text(LINES.with(20, 'second')));
    review.fake.openEditor(review.path('src/a.js'), 12);
    await review.run('primeAgent.acceptChange');
    expect(last(review)?.text).toBe('There is no open change here.');
  });

  it('offers both decisions above each change', async () => {
    const review = await twoChanges();
    const uri = review.fake.vs.Uri.file(review.path('src/a.js'));
    const document = await review.fake.vs.workspace.openTextDocument(uri);
    const source = new review.fake.vs.CancellationTokenSource();
    const lenses =
      (await review.fake.lenses.at(-1)?.provideCodeLenses(document, source.token)) ?? [];
    expect(lenses.map(({ range, command }) => [range.start.line, command?.title])).toEqual([
      [3, '$(wand) Prime Agent: +1 −1'],
      [3, 'Accept'],
      [3, 'Discard'],
      [20, '$(wand) Prime Agent: +1 −1'],
      [20, 'Accept'],
      [20, 'Discard'],
    ]);
  });

  it('says so when the tests fail in the workspace, with a way on', async () => {
    const review = await twoChanges();
    review.results = [{ id: 'test/add.test.js::adds', status: 'failed' }];
    press(review, 'Fix Again');
    await review.run('primeAgent.acceptAll');
    await told(review, 'In the workspace these tests fail: test/add.test.js::adds.');
    await expect.poll(() => review.commandsOf()).toContain('primeAgent.fixTest');
    expect(await review.rows()).toContain(
      '  The test passes now | in the workspace 1 fail · 4 others still pass',
    );
  });

  it('notices undo and redo, and records them', async () => {
    const review = await twoChanges();
    await review.run('primeAgent.acceptChange', await review.row('first'));
    const after = await review.read('src/a.js');
    await review.fake.type(review.path('src/a.js'), text(LINES));
    await expect.poll(() => review.rows()).toContain('    first | line 4 · +1 −1');
    await review.fake.type(review.path('src/a.js'), after);
    await expect.poll(() => review.rows()).toContain('    first | line 4 · +1 −1 · accepted');
    await expect
      .poll(async () => (await readFeedback(review.record)).map(({ kind }) => kind))
      .toEqual(['accepted', 'undone', 'accepted']);
  });

  it('records once that accepted lines were edited later', async () => {
    const review = await twoChanges();
    await review.run('primeAgent.acceptAll');
    await told(review, 'Accepted.');
    const path = review.path('src/a.js');
    await review.fake.type(path, TWO.replace('line 10', 'other'));
    await review.fake.save(path);
    for (const word of ['my own', 'my very own']) {
      await review.fake.type(path, TWO.replace('second', word));
      await review.fake.save(path);
    }
    await expect
      .poll(async () =>
        (await feedback(review)).filter((line) => Array.isArray(line) && line[0] === 'edited'),
      )
      .toEqual([['edited', [{ path: 'src/a.js', changes: [1], of: 2 }]]]);
  });
});

describe('a review in a window that is reloaded', () => {
  it('is there again without a tab, with what was decided and what is open', async () => {
    const review = await twoChanges();
    await review.run('primeAgent.acceptChange', await review.row('first'));
    const before = await review.rows();
    const shown = review.commandsOf().length;
    await review.reload();
    expect(await review.rows()).toEqual(before);
    expect(review.commandsOf().slice(shown)).not.toContain('vscode.changes');
    await review.run('primeAgent.acceptChange', await review.row('second'));
    await told(review, 'Accepted. The test passes in the workspace.');
    expect(await review.read('src/a.js')).toBe(TWO);
  });

  it('says what is a conflict now, when the files were changed meanwhile', async () => {
    const review = await twoChanges();
    await writeFile(review.path('src/a.js'), text(LINES.with(3, 'mine')));
    await review.reload();
    expect((await review.rows()).join('\n')).toMatch(/first \| .*changed/);
    await review.run('primeAgent.acceptChange', await review.row('second'));
    expect(await review.read('src/a.js')).toBe(text(LINES.with(3, 'mine').with(20, 'second')));
  });

  it('counts as accepted what stands in the files already', async () => {
    const review = await twoChanges();
    await writeFile(review.path('src/a.js'), text(LINES.with(3, 'first')));
    await review.reload();
    expect((await review.rows()).join('\n')).toMatch(/first \| .*accepted/);
    await review.run('primeAgent.acceptAll');
    expect(await review.read('src/a.js')).toBe(TWO);
  });

  it('is gone once nothing in it is open', async () => {
    const review = await twoChanges();
    await review.run('primeAgent.discardAll');
    await review.reload();
    expect(await review.rows()).toEqual([]);
  });
});

describe('what asks', () => {
  it('is a change that passes only with its tests, once, and modally', async () => {
    const review = await openReview(
      BEFORE,
      { ...BEFORE, 'test/add.test.js': 'a\nB\nc\n', 'src/a.js': TWO },
      { outcome: 'solved_with_test_changes' },
    );
    expect(await review.rows()).toContain('  add.test.js | test · changes tests · 1 change');
    expect(review.fake.messages).toEqual([]);
    await review.run('primeAgent.acceptAll');
    expect(review.fake.messages).toMatchObject([{ modal: true, actions: ['Accept'] }]);
    expect(await review.read('test/add.test.js')).toBe('a\nb\nc\n');
    press(review, 'Accept');
    await review.run('primeAgent.acceptFile', await review.row('a.js'));
    await review.run('primeAgent.acceptAll');
    await told(review, 'Accepted.');
    expect(review.fake.messages.filter(({ modal }) => modal)).toHaveLength(2);
    expect(await review.read('test/add.test.js')).toBe('a\nB\nc\n');
  });

  it('is a file that runs by itself later', async () => {
    const review = await openReview(BEFORE, { ...BEFORE, '.envrc': 'echo\n', 'src/a.js': TWO });
    expect(await review.rows()).toContain('  .envrc | new file · runs by itself later');
    await review.run('primeAgent.acceptFile', await review.row('a.js'));
    expect(review.fake.messages).toEqual([]);
    await review.run('primeAgent.acceptAll');
    expect(last(review)).toMatchObject({ modal: true });
    await expect(stat(review.path('.envrc'))).rejects.toThrow();
  });
});

describe('files of other kinds', () => {
  const BYTES = Buffer.from([0, 1, 2, 255]);

  it.each<[string, Tree, Tree]>([
    ['added', {}, { 'new/file.txt': 'hello\n' }],
    ['deleted', { 'old.txt': 'bye\n' }, { 'old.txt': undefined }],
    ['binary', { 'a.bin': BYTES }, { 'a.bin': Buffer.concat([BYTES, BYTES]) }],
    ['with Windows line endings', { 'a.txt': 'a\r\nb\r\nc\r\n' }, { 'a.txt': 'a\r\nB\r\nc\r\n' }],
    ['with mixed line endings', { 'a.txt': 'a\r\nb\nc\r\nd\n' }, { 'a.txt': 'a\r\nb\nc\r\nD\n' }],
    ['without a last line break', { 'a.txt': 'a\nb' }, { 'a.txt': 'a\nb\nc' }],
    ['that get one', { 'a.txt': 'a\nb' }, { 'a.txt': 'a\nb\n' }],
    ['that lose one', { 'a.txt': 'a\nb\n' }, { 'a.txt': 'a\nb' }],
    ['that were empty', { 'a.txt': '' }, { 'a.txt': 'a\n' }],
    ['that become empty', { 'a.txt': 'a\nb\n' }, { 'a.txt': '' }],
    ['that may be run now', { 'a.sh': '#!/bin/sh\n' }, { 'a.sh': { script: '#!/bin/sh\necho\n' } }],
    ['with odd names', { 'ä [1] {x}.txt': 'a\n' }, { 'ä [1] {x}.txt': 'b\n' }],
  ])('%s become what the patch says, byte for byte', async (_, before, after) => {
    const review = await openReview(before, after);
    await review.run('primeAgent.acceptAll');
    await told(review, 'Accepted.');
    for (const [name, content] of Object.entries(after)) {
      const found = await readFile(review.path(name)).catch(() => undefined);
      if (content === undefined) expect(found).toBeUndefined();
      else {
        const bytes = typeof content === 'object' && 'script' in content ? content.script : content;
        expect(found).toEqual(Buffer.from(bytes as string));
        const { mode } = await stat(review.path(name));
        expect(mode & 0o100).toBe(typeof content === 'object' && 'script' in content ? 0o100 : 0);
      }
    }
    expect(await review.rows()).toContainEqual(expect.stringContaining('accepted'));
  });

  it('renamed move, with their changes', async () => {
    const review = await openReview(
      { 'a.txt': text(LINES) },
      { 'a.txt': undefined, 'b.txt': text(LINES.with(3, 'x')) },
      { diff: ['--find-renames'] },
    );
    expect(await review.rows()).toContain('  b.txt | renamed');
    await review.run('primeAgent.acceptAll');
    await told(review, 'Accepted.');
    expect(await review.read('b.txt')).toBe(text(LINES.with(3, 'x')));
    await expect(stat(review.path('a.txt'))).rejects.toThrow();
  });

  it('that become links are refused with the next step', async () => {
    const review = await openReview({ 'a.txt': 'a\n' }, { 'a.txt': { link: 'b' } });
    await review.run('primeAgent.acceptAll');
    expect(last(review)?.text).toContain('Apply the patch with git apply');
    expect(await review.read('a.txt')).toBe('a\n');
  });
});

describe('patches that lead out of the folder', () => {
  it('are not opened when they name such a path', async () => {
    const review = await twoChanges();
    const patch = review.input.patch.replaceAll('/src/a.js', '/../a.js');
    await review.again({ id: 'a-2', patch });
    expect(last(review)?.text).toBe(
      'The patch names "../a.js", which is not a path inside the workspace.',
    );
    expect((await review.rows()).filter((row) => row.startsWith('Review'))).toHaveLength(1);
  });

  it('are refused when a folder is a link now', async () => {
    const review = await twoChanges();
    await rename(review.path('src'), review.path('../elsewhere'));
    await symlink('../elsewhere', review.path('src'));
    await review.run('primeAgent.acceptAll');
    expect(last(review)?.text).toContain('src/a.js is a symbolic link or behind one');
    expect(await review.read('../elsewhere/a.js')).toBe(text(LINES));
  });
});

describe('files that are not what they were', () => {
  it('take a change at its new place, with unsaved lines kept and not saved', async () => {
    const review = await twoChanges();
    const path = review.path('src/a.js');
    const mine = text(['my new line', ...LINES]);
    await review.fake.type(path, mine);
    await review.run('primeAgent.acceptAll');
    const document = review.fake.documents.find(({ uri }) => uri.path === path);
    expect(document?.text).toBe(`my new line\n${TWO}`);
    expect(document?.isDirty).toBe(true);
    expect(await review.read('src/a.js')).toBe(text(LINES));
    expect(last(review)).toMatchObject({
      text: 'The change is in src/a.js, which has unsaved changes of yours. Save it to test the change.',
      actions: ['Save'],
    });
    expect(review.runs).toEqual([]);
  });

  it('run the tests once the user has saved', async () => {
    const review = await twoChanges();
    await review.fake.type(review.path('src/a.js'), text(['my new line', ...LINES]));
    press(review, 'Save');
    await review.run('primeAgent.acceptAll');
    await told(review, 'The test passes in the workspace.');
    expect(await review.read('src/a.js')).toBe(`my new line\n${TWO}`);
  });

  it('run the tests, too, when the user saves in the editor', async () => {
    const review = await twoChanges();
    await review.fake.type(review.path('src/a.js'), text(['my new line', ...LINES]));
    await review.run('primeAgent.acceptAll');
    expect(review.runs).toEqual([]);
    await review.fake.save(review.path('src/a.js'));
    await told(review, 'The test passes in the workspace.');
  });

  it('are a conflict where unsaved lines are in the way; the other change can be taken', async () => {
    const review = await twoChanges();
    const path = review.path('src/a.js');
    await review.fake.type(path, text(LINES.with(3, 'mine')));
    await expect
      .poll(() => review.rows())
      .toContain('    first | line 4 · +1 −1 · conflict: unsaved changes here');
    await review.run('primeAgent.acceptAll');
    const document = review.fake.documents.find(({ uri }) => uri.path === path);
    expect(document?.text).toBe(text(LINES.with(3, 'mine')));
    expect(last(review)).toMatchObject({
      level: 'warning',
      text: 'Nothing was changed. Your unsaved changes in src/a.js touch what this change is about. Save or revert them and make the change by hand, or discard it.',
      actions: ['Accept the Others', 'Show Patch', 'Discard'],
    });
    press(review, 'Accept the Others');
    await review.run('primeAgent.acceptAll');
    await expect.poll(() => document?.text).toBe(text(LINES.with(3, 'mine').with(20, 'second')));
  });

  it('are a conflict when somebody else changed these lines on disk', async () => {
    const review = await twoFiles();
    await writeFile(review.path('src/b.js'), 'one\nTWO\n');
    review.fake.changedOnDisk(review.path('src/b.js'));
    await expect
      .poll(() => review.rows())
      .toContain('  b.js | src · 1 change · conflict: these lines have changed');
    await review.run('primeAgent.acceptAll');
    expect(last(review)?.text).toMatch(/^Nothing was changed\. src\/b\.js has changed/);
    expect(await review.read('src/a.js')).toBe(text(LINES));
    expect(await review.read('src/b.js')).toBe('one\nTWO\n');
  });

  it('were changed before the review opened: what is unique still goes', async () => {
    const review = await twoChanges({ now: { 'src/a.js': text(['other', ...LINES]) } });
    expect(await review.proposed('src/a.js')).toBe(`other\n${TWO}`);
    await review.run('primeAgent.acceptAll');
    expect(await review.read('src/a.js')).toBe(`other\n${TWO}`);
  });

  it('that are gone, there already, or binary changed meanwhile are conflicts', async () => {
    const review = await openReview(
      { 'a.txt': 'a\n', 'b.bin': Buffer.from([0, 1]), 'd.txt': 'd\n' },
      { 'a.txt': 'b\n', 'b.bin': Buffer.from([0, 2]), 'c.txt': 'new\n', 'd.txt': undefined },
    );
    await rm(review.path('a.txt'));
    await writeFile(review.path('b.bin'), Buffer.from([0, 3]));
    await writeFile(review.path('c.txt'), 'mine\n');
    await writeFile(review.path('d.txt'), 'changed\n');
    await review.run('primeAgent.acceptAll');
    expect(last(review)?.text).toBe(
      'Nothing was changed. a.txt does not exist any more. Restore it and accept again, or discard the change. The same is true of 3 files more.',
    );
    await expect
      .poll(() => review.rows())
      .toEqual([
        'Review: adds | solved',
        expect.any(String),
        expect.any(String),
        '  a.txt | 1 change · conflict: the file is gone',
        expect.stringContaining('conflict: the file is gone'),
        '  b.bin | binary file · conflict: the file has changed',
        '  c.txt | new file · conflict: the file exists',
        '  d.txt | deleted · conflict: the file has changed',
      ]);
    expect(await review.read('c.txt')).toBe('mine\n');
    expect(await review.read('d.txt')).toBe('changed\n');
  });

  it('that the editor does not take stay as they are, all of them', async () => {
    const review = await openReview(
      { 'a.txt': 'a\n', 'b.bin': Buffer.from([0, 1]) },
      { 'a.txt': 'b\n', 'b.bin': Buffer.from([0, 2]), 'c.txt': 'new\n' },
    );
    review.fake.refuseEdits = 'once';
    await review.run('primeAgent.acceptAll');
    expect(last(review)).toMatchObject({
      text: 'The editor did not take the change. Your files are as they were.',
      actions: ['Try Again'],
    });
    expect(await review.read('a.txt')).toBe('a\n');
    expect(await readFile(review.path('b.bin'))).toEqual(Buffer.from([0, 1]));
    await expect(stat(review.path('c.txt'))).rejects.toThrow();
  });

  it('that cannot be written to are a conflict', async () => {
    const review = await twoChanges();
    review.fake.vs.workspace.fs.isWritableFileSystem = () => false;
    await review.run('primeAgent.acceptAll');
    expect(last(review)?.text).toContain('src/a.js is read-only. Make it writable');
    expect(await review.read('src/a.js')).toBe(text(LINES));
  });
});
