import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { writeTar } from '../../../../src/core/snapshot/tar.ts';
import { packTree, unpackTree } from '../../../../src/core/tasks/archive.ts';
import {
  type FileTree,
  leadsOutside,
  type TreeFile,
  textTree,
  writesOutside,
} from '../../../../src/core/tasks/tree.ts';

const file: TreeFile = { mode: '100644', content: Buffer.from('text') };
const link = (to: string): TreeFile => ({ mode: '120000', content: Buffer.from(to) });
const tree = (entries: Readonly<Record<string, TreeFile>>): FileTree =>
  new Map(Object.entries(entries));

describe('an archive of files', () => {
  test('holds them as they are, and is the same for the same files in another order', () => {
    const files = tree({
      'ä/b.txt': file,
      'run.sh': { mode: '100755', content: Buffer.from([0, 255, 10]) },
      to: link('ä/b.txt'),
    });
    expect(unpackTree(packTree(files))).toEqual(new Map([...files].sort()));
    expect(packTree(new Map([...files].reverse()))).toEqual(packTree(files));
  });
  test('that is none, is larger than allowed, or holds a device is an error', () => {
    expect(() => unpackTree(Buffer.from('text'))).toThrow('incorrect header check');
    const large = packTree(textTree({ 'a.txt': 'a'.repeat(100_000) }));
    expect(large.length).toBeLessThan(1_000);
    expect(() => unpackTree(large, 50_000)).toThrow('larger than 50000');
    const plain = writeTar(
      [{ path: 'dev', kind: 'file', mode: 0o644, content: Buffer.alloc(0) }],
      0,
    );
    const device = Buffer.from(plain);
    device[156] = '3'.charCodeAt(0);
    device.write('        ', 148);
    const sum = device.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    device.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    expect(() => unpackTree(gzipSync(device))).toThrow('"dev" is neither a file nor a link');
  });
});

describe('a tree', () => {
  test.each([
    ['a name that leads up', tree({ '../a': file })],
    ['an absolute name', tree({ '/a': file })],
    ['a repository of its own', tree({ 'sub/.git/config': file })],
    ['a file behind a link', tree({ a: link('b'), 'a/c': file })],
    ['a link behind a link', tree({ a: link('b'), 'a/x/c': link('d') })],
    ['a file behind a file', tree({ a: file, 'a/b': file })],
  ])('with %s writes outside', (_, files) => {
    expect(writesOutside(files)).toBeDefined();
  });
  test.each([
    ['/etc/passwd', 'a'],
    ['..', 'a'],
    ['../../x', 'sub/a'],
    // Lexically inside; `here` may be a link to the folder itself.
    ['here/..', 'a'],
    ['sub/../../x', 'sub/a'],
    ['.git/config', 'a'],
    ['', 'a'],
  ])('with a link to %j leads outside', (to, path) => {
    expect(leadsOutside(tree({ [path]: link(to) }))).toBe(path);
  });
  test('with links inside of it is good', () => {
    const files = tree({
      'sub/deep/a': link('../../b'),
      b: file,
      c: link('./sub/deep'),
      d: link('b'),
    });
    expect(writesOutside(files)).toBeUndefined();
    expect(leadsOutside(files)).toBeUndefined();
  });
});
