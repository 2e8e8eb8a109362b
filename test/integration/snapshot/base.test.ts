import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import { collectGarbage, DEFAULT_LIMITS } from '../../../src/core/snapshot/garbage.ts';
import {
  allObjects,
  filesOf,
  git,
  repository,
  snapshot,
  system,
  temporaryFolder,
  write,
} from './fixtures.ts';

const stateOf = (work: string): string => join(dirname(work), 'state');
const basesOf = (work: string): string[] => readdirSync(join(stateOf(work), 'snapshots')).sort();

describe('bases', () => {
  test('are made once per state, and the same commit for the same content', async () => {
    const work = repository({ 'a.txt': 'a\n', 'b/c.txt': 'c\n' });
    const first = await snapshot(work);
    const second = await snapshot(work);
    expect([first.reused, second.reused, second.id]).toEqual([false, true, first.id]);
    const commit = git(first.tree, 'rev-parse', 'HEAD');
    utimesSync(join(work, 'a.txt'), 1, 1);
    const touched = await snapshot(work);
    expect(touched.id).not.toBe(first.id);
    expect(git(touched.tree, 'rev-parse', 'HEAD')).toBe(commit);
    const elsewhere = await snapshot(work, { stateDir: join(temporaryFolder(), 'other') });
    expect(git(elsewhere.tree, 'rev-parse', 'HEAD')).toBe(commit);
  });

  test('see every change of content, mode and name, also within the same second and size', async () => {
    const work = repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    const ids = new Set([(await snapshot(work)).id]);
    const time = statSync(join(work, 'a.txt'));
    const change: (() => void)[] = [
      () => writeFileSync(join(work, 'a.txt'), 'A\n'),
      () => {
        writeFileSync(join(work, 'a.txt'), 'B\n');
        utimesSync(join(work, 'a.txt'), time.atime, time.mtime);
      },
      () => chmodSync(join(work, 'a.txt'), 0o755),
      () => rmSync(join(work, 'b.txt')),
      () => writeFileSync(join(work, 'c.txt'), 'c\n'),
    ];
    for (const step of change) {
      step();
      const base = await snapshot(work);
      ids.add(base.id);
      expect(filesOf(base.tree)).toEqual(filesOf(work));
      expect(git(base.tree, 'status', '--porcelain')).toBe('');
      const stored = execFileSync('git', ['cat-file', 'blob', 'HEAD:a.txt'], {
        cwd: base.tree,
        encoding: 'latin1',
      });
      expect(`${base.tree && stored}`).toBe(readFileSync(join(work, 'a.txt'), 'latin1'));
    }
    expect(ids.size).toBe(6);
  });

  test('share files with earlier bases, never with the user, and hold nothing of an earlier state', async () => {
    const work = repository({ 'a.txt': 'a\n', 'b.txt': 'THE FIX\n' });
    linkSync(join(work, 'a.txt'), join(work, 'a2.txt'));
    const first = await snapshot(work);
    writeFileSync(join(work, 'b.txt'), 'the bug\n');
    const second = await snapshot(work);
    const inode = (folder: string) => lstatSync(join(folder, 'a.txt')).ino;
    expect(inode(second.tree)).toBe(inode(first.tree));
    expect(inode(first.tree)).not.toBe(inode(work));
    expect(allObjects(second.tree)).not.toContain('THE FIX');
    expect(existsSync(join(second.tree, '.git/objects/info/alternates'))).toBe(false);
    appendFileSync(join(work, 'a.txt'), 'in place\n');
    expect(filesOf(first.tree)).toEqual({ 'a.txt': 'a\n', 'a2.txt': 'a\n', 'b.txt': 'THE FIX\n' });
    await first.release();
    await collectGarbage(stateOf(work), { ...DEFAULT_LIMITS, maxCount: 1 });
    expect(git(second.tree, 'fsck', '--full')).toBe('');
    expect(filesOf(second.tree)['a.txt']).toBe('a\n');
  });

  test('are private to their owner', async () => {
    const work = repository({ 'a.txt': 'a\n' });
    await snapshot(work);
    expect(statSync(stateOf(work)).mode & 0o777).toBe(0o700);
  });

  test('made by several at once are one', async () => {
    const work = repository({ 'a.txt': 'a\n' });
    const made = await Promise.all([snapshot(work), snapshot(work), snapshot(work)]);
    expect(new Set(made.map((base) => base.id)).size).toBe(1);
    expect(basesOf(work)).toEqual([made[0]?.id]);
  });

  test('files that change all the time: what is in it is whole, and the report says so', async () => {
    const work = repository({ 'a.txt': 'a\n' });
    const writer = spawn('bash', ['-c', 'while :; do echo x >> busy.txt; done'], { cwd: work });
    onTestFinished(() => void writer.kill('SIGKILL'));
    while (!existsSync(join(work, 'busy.txt'))) await new Promise((done) => setTimeout(done, 10));
    const base = await snapshot(work);
    expect(filesOf(base.tree)['a.txt']).toBe('a\n');
    expect(base.skipped.map(({ reason }) => reason)).toEqual([
      'files kept changing while they were copied',
    ]);
    expect(git(base.tree, 'status', '--porcelain')).toBe('');
  });

  test('the state folder inside of the workspace is not part of it', async () => {
    const work = repository({ 'a.txt': 'a\n' });
    const stateDir = join(work, '.state');
    await snapshot(work, { stateDir });
    write(work, { 'b.txt': 'b\n' });
    expect(filesOf((await snapshot(work, { stateDir })).tree)).toEqual({
      'a.txt': 'a\n',
      'b.txt': 'b\n',
    });
  });

  test('cancelling leaves nothing behind', async () => {
    const work = repository(
      Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`f${at}`, `${at}`])),
    );
    for (const delay of [0, 5, 20, 40, 80]) {
      const abort = new AbortController();
      const making = makeBase(work, { stateDir: stateOf(work), signal: abort.signal });
      const timer = setTimeout(() => abort.abort(new Error('stop')), delay);
      const result = await making.catch((error: unknown) => error);
      clearTimeout(timer);
      if (result instanceof Error) expect(result.message).toBe('stop');
      expect(basesOf(work).filter((name) => name.startsWith('.'))).toEqual([]);
    }
  });

  test('a full disk is said to be one, and nothing is left', async () => {
    const work = repository({ 'a.bin': Buffer.alloc(3_000_000, 1) });
    const state = stateOf(work);
    mkdirSync(state);
    if (process.getuid?.() !== 0) {
      // Only root can make a small disk: a folder that cannot be written to stands for it.
      chmodSync(state, 0o500);
      expect(await makeBase(work, { stateDir: state })).toMatchObject({
        kind: 'problem',
        code: 'state-folder',
      });
      return;
    }
    system('mount', '-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', state);
    onTestFinished(() => void system('umount', state));
    const outcome = await makeBase(work, { stateDir: state });
    expect(outcome).toMatchObject({
      kind: 'problem',
      code: 'no-space',
      remedy: expect.stringContaining('PRIME_AGENT_HOME'),
    });
    expect(basesOf(work)).toEqual([]);
    // Also where the copy fits and only its commit does not.
    writeFileSync(join(work, 'a.bin'), randomBytes(1_500_000));
    expect(await makeBase(work, { stateDir: state })).toMatchObject({
      kind: 'problem',
      code: 'no-space',
      reason: expect.stringContaining('disk is full'),
    });
    expect(basesOf(work)).toEqual([]);
  });
});

describe('clean-up', () => {
  test('what crashed processes left is removed at the next start, that of living ones stays', async () => {
    const work = repository({ 'a.txt': 'a\n' });
    await snapshot(work);
    const folder = join(stateOf(work), 'snapshots');
    const living = readFileSync('/proc/1/stat', 'utf8').split(') ').pop()?.split(' ')[19];
    mkdirSync(join(folder, '.build-999999999-123-0/tree'), { recursive: true });
    mkdirSync(join(folder, `.build-${process.pid}-1-0`));
    mkdirSync(join(folder, '.trash-999999999-123-abc'));
    mkdirSync(join(folder, `.build-1-${living}-0`));
    await snapshot(work);
    expect(basesOf(work).filter((name) => name.startsWith('.'))).toEqual([`.build-1-${living}-0`]);
  });

  test('keeps to count, bytes and age, oldest first, and never takes what is in use', async () => {
    const work = repository({ 'a.txt': 'a\n' });
    const made = [];
    for (let at = 0; at < 4; at++) {
      writeFileSync(join(work, 'a.txt'), 'x'.repeat(1000 + at));
      const base = await snapshot(work);
      made.push(base);
    }
    for (const [at, base] of made.entries()) {
      utimesSync(join(dirname(base.tree), 'meta.json'), 1000 + at, 1000 + at);
    }
    const [first, second, third, fourth] = made;
    const state = stateOf(work);
    expect(await collectGarbage(state, { maxAgeMs: 1, maxCount: 1, maxBytes: 1 })).toMatchObject({
      removed: [],
      keptInUse: [fourth?.id, third?.id, second?.id, first?.id],
    });
    for (const base of [second, third, fourth]) await base?.release();
    const wide = { maxAgeMs: Number.POSITIVE_INFINITY, maxCount: 10, maxBytes: 1e9 };
    expect((await collectGarbage(state, { ...wide, maxCount: 3 })).removed).toEqual([]);
    expect((await collectGarbage(state, { ...wide, maxBytes: 2100 })).removed).toEqual([
      second?.id,
    ]);
    expect(await collectGarbage(state, { ...wide, maxAgeMs: 1 })).toMatchObject({
      removed: [fourth?.id, third?.id],
      freedBytes: 2005,
    });
    expect(basesOf(work)).toEqual([first?.id]);
  });

  test('a damaged base is made anew', async () => {
    const work = repository({ 'a.txt': 'a\n' });
    const base = await snapshot(work);
    await base.release();
    writeFileSync(join(dirname(base.tree), 'meta.json'), '{');
    const again = await snapshot(work);
    expect(again).toMatchObject({ id: base.id, reused: false });
    writeFileSync(join(dirname(base.tree), 'manifest.json'), '{');
    await again.release();
    expect(await snapshot(work)).toMatchObject({ id: base.id, reused: false });
    expect(filesOf(again.tree)).toEqual({ 'a.txt': 'a\n' });
  });
});
