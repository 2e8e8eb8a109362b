import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatBytes } from '../../../src/core/platform/format-bytes.ts';
import {
  formatMark,
  isAlive,
  ownMark,
  parseMark,
} from '../../../src/core/platform/process-mark.ts';
import { isDependencyName } from '../../../src/core/snapshot/dependencies.ts';
import { eachLimited } from '../../../src/core/snapshot/limited.ts';
import {
  fromRawPath,
  isPlainPath,
  isUtf8Path,
  joinNul,
  parentPaths,
  splitNul,
  toRawPath,
} from '../../../src/core/snapshot/raw-path.ts';

describe('raw paths', () => {
  test('keep every byte through lists with NUL', () => {
    const name = fc
      .uint8Array({ minLength: 1 })
      .map((array) => Buffer.from(array).toString('latin1').replaceAll('\0', '_'));
    fc.assert(
      fc.property(fc.array(name), (names) => {
        expect(splitNul(joinNul(names))).toEqual(names);
      }),
    );
  });

  test('text goes there and back; other bytes are told apart', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(fromRawPath(toRawPath(text))).toBe(text);
        expect(isUtf8Path(toRawPath(text))).toBe(true);
      }),
    );
    expect(isUtf8Path('odd-\xff')).toBe(false);
  });

  test('parents from the top down', () => {
    expect([...parentPaths('a/b/c')]).toEqual(['a', 'a/b']);
    expect([...parentPaths('a')]).toEqual([]);
  });

  test('paths that leave the workspace or enter a .git are not plain', () => {
    for (const path of ['', '/a', 'a/', 'a//b', '.', '..', 'a/../b', '.git', 'a/.GIT/b', '.Git'])
      expect(isPlainPath(path), path).toBe(false);
    for (const path of ['a', '.gitignore', 'a/.github/b', '...', '-a', 'git'])
      expect(isPlainPath(path), path).toBe(true);
  });
});

test('dependency folders by name', () => {
  for (const path of [
    'node_modules',
    'a/b/node_modules',
    'target',
    'src/x.egg-info',
    '.yarn/cache',
    'a/.yarn/unplugged',
  ])
    expect(isDependencyName(path), path).toBe(true);
  for (const path of ['build', 'dist', '.yarn', '.env', 'node_modules/x', 'my_target'])
    expect(isDependencyName(path), path).toBe(false);
});

test('sizes for people', () => {
  expect([0, 999, 1000, 1500, 25_000_000, 3.2e9].map(formatBytes)).toEqual([
    '0 bytes',
    '999 bytes',
    '1.0 KB',
    '1.5 KB',
    '25 MB',
    '3.2 GB',
  ]);
});

test('work in parallel is bounded, and a failure stops it after what runs has ended', async () => {
  let running = 0;
  let most = 0;
  let ended = 0;
  const work = async (item: number): Promise<void> => {
    most = Math.max(most, ++running);
    await new Promise((done) => setTimeout(done, 1));
    running--;
    ended++;
    if (item === 10) throw new Error('ten');
  };
  await expect(
    eachLimited(
      Array.from({ length: 50 }, (_, at) => at),
      4,
      work,
    ),
  ).rejects.toThrow('ten');
  expect(most).toBe(4);
  expect(running).toBe(0);
  expect(ended).toBeLessThan(20);
});

test('a process is known by number and start', async () => {
  const mark = await ownMark();
  expect(parseMark(`${formatMark(mark)}-7`)).toEqual(mark);
  expect(parseMark('nonsense')).toBeUndefined();
  expect(await isAlive(mark)).toBe(true);
  expect(await isAlive({ ...mark, started: '1' })).toBe(false);
  expect(await isAlive({ pid: 999_999_999, started: '1' })).toBe(false);
});
