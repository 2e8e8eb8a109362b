import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readTaskSet, TaskFileError, writeTaskSet } from '../../../../src/core/tasks/task-set.ts';
import { isSafePath, textTree, treeHash } from '../../../../src/core/tasks/tree.ts';
import { viewOf } from '../../../../src/core/tasks/views.ts';
import { tempFolder } from '../../../support/temp.ts';
import { makeTask, TREE, TREES } from './make.ts';

const first = makeTask({ family: 'range', operator: 'compare-boundary', shape: 'a' });
const second = makeTask({ family: 'clamp', operator: 'offset-add', shape: 'b' });
const set = { entries: [{ task: first, split: 'train' as const }, { task: second }], trees: TREES };

describe('a file of tasks', () => {
  it.each(['tasks.jsonl', 'tasks.jsonl.gz'])(
    '%s comes back as it was, byte for byte the same',
    async (name) => {
      const folder = await tempFolder();
      const file = join(folder, 'deep', name);
      await writeTaskSet(file, set);
      const bytes = await readFile(file);
      expect(await readTaskSet(file)).toEqual(set);
      await writeTaskSet(file, set);
      expect(await readFile(file)).toEqual(bytes);
      const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
      // The tree is stored once.
      expect(text.split('\n').map((line) => (line === '' ? '' : JSON.parse(line).type))).toEqual([
        ...['header', 'tree', 'task', 'task'],
        '',
      ]);
    },
  );

  it('keeps large trees and files that are no text', async () => {
    const folder = await tempFolder();
    const tree = new Map([
      ...textTree({
        ...Object.fromEntries([...TREE].map(([path, { content }]) => [path, content.toString()])),
        'big.txt': 'x'.repeat(100_000),
        'ümlaut/ö.js': '1\n',
      }),
      ['run.sh', { mode: '100755' as const, content: Buffer.from('#!/bin/sh\n') }],
      ['link', { mode: '120000' as const, content: Buffer.from('run.sh') }],
      ['bytes', { mode: '100644' as const, content: Buffer.from([0, 255, 254]) }],
    ]);
    const small = new Map([...tree].filter(([path]) => path !== 'big.txt'));
    for (const files of [tree, small]) {
      const task = { ...first, tree: treeHash(files) };
      const { finishTask } = await import('../../../../src/core/tasks/task.ts');
      const { id: _, version: __, ...draft } = task;
      const one = { entries: [{ task: finishTask(draft) }], trees: new Map([[task.tree, files]]) };
      const file = join(folder, 'tasks.jsonl');
      await writeTaskSet(file, one);
      const read = await readTaskSet(file);
      expect(new Map([...(read.trees.get(task.tree) ?? [])].sort())).toEqual(
        new Map([...files].sort()),
      );
    }
  });

  it.each([
    ['is missing', undefined, /cannot be read: ENOENT.*prime-agent tasks build/],
    ['is empty', () => '', /the file is empty/],
    ['is something else', () => '{"a":1}\n', /line 1: .*type/s],
    ['is cut off', (text: string) => text.slice(0, -40), /line 4 is not JSON: the file is cut off/],
    [
      'is of a later version',
      (text: string) => text.replace('"version":"1.0"', '"version":"2.0"'),
      /version 2\.0, this program reads 1\.0/,
    ],
    [
      'has changed files',
      (text: string) => text.replace('const sum', 'const all'),
      /the files are not those of the hash/,
    ],
    [
      'has a changed task',
      (text: string) => text.replace('"newText":"-"', '"newText":"*"'),
      /the task was changed/,
    ],
    [
      'leads out of its folder',
      (text: string) => text.replace('"src/add.js":"export', '"../add.js":"export'),
      /leads out of the tree/,
    ],
    [
      'has no tree',
      (text: string) =>
        text
          .split('\n')
          .filter((line) => !line.includes('"tree","hash"'))
          .join('\n'),
      /its tree is missing/,
    ],
  ])('that %s is refused with its place', async (_, change, message) => {
    const file = join(await tempFolder(), 'tasks.jsonl');
    await writeTaskSet(file, set);
    if (change) await writeFile(file, change(await readFile(file, 'utf8')));
    const wrong = readTaskSet(change ? file : `${file}.no`);
    await expect(wrong).rejects.toThrow(TaskFileError);
    await expect(wrong).rejects.toThrow(message);
  });

  it('refuses bytes that are not compressed', async () => {
    const file = join(await tempFolder(), 'tasks.jsonl.gz');
    await writeFile(file, 'plain');
    await expect(readTaskSet(file)).rejects.toThrow(/is damaged: .*Build the tasks again/);
  });
});

describe('the views of a task', () => {
  const text = (view: 'original' | 'grading' | 'agent', path: string) =>
    viewOf(first, TREE, view).get(path)?.content.toString();

  it('have the bug for agent and grading, and hidden tests only for grading', () => {
    expect(text('original', 'src/add.js')).toContain('a + b');
    expect(text('grading', 'src/add.js')).toContain('a - b');
    expect(text('agent', 'src/add.js')).toContain('a - b');
    expect(text('grading', 'test/add.test.js')).toContain("test('one'");
    expect(text('agent', 'test/add.test.js')).toBe("test('two', () => {});\n");
  });

  it('are refused over another tree', () => {
    const other = textTree({ 'src/add.js': 'nothing\n', 'test/add.test.js': '' });
    expect(() => viewOf(first, other, 'agent')).toThrow(/does not hold what its bug replaces/);
  });
});

it('knows paths that lead out of a folder', () => {
  for (const path of ['a/b.js', '.github/x', 'a..b/c', '..a']) expect(isSafePath(path)).toBe(true);
  for (const path of [
    '../a',
    'a/../b',
    '/a',
    'a//b',
    '.git/config',
    'a/.GIT/x',
    '',
    '.',
    'a\\b',
    'a\0',
  ]) {
    expect(isSafePath(path)).toBe(false);
  }
});
