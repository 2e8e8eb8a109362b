import {
  appendFile,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRedactor } from '../../../src/core/redaction/redactor.ts';
import { trajectoriesRoot, workspaceFolder } from '../../../src/core/trajectories/folder.ts';
import type { TrajectoryLine } from '../../../src/core/trajectories/schema.ts';
import {
  createTrajectoryStore,
  type TrajectoryStore,
} from '../../../src/core/trajectories/store.ts';
import { end, header, turn } from '../../unit/core/trajectories/make.ts';

const redactor = createRedactor({});
const WORKSPACE = '/srv/shop';
let base: string;
let made = 0;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'prime-store-'));
});
afterAll(() => rm(base, { recursive: true, force: true }));

function newStore(): TrajectoryStore {
  made += 1;
  return createTrajectoryStore(join(base, String(made), 'trajectories'));
}

async function write(
  store: TrajectoryStore,
  attemptId: string,
  lines: readonly TrajectoryLine[] = [turn(0), end()],
  workspacePath = WORKSPACE,
): Promise<string> {
  const writer = await store.create({ workspacePath, attemptId, redactor });
  await writer.append(header({ attemptId, startedAt: startOf(attemptId) }));
  for (const line of lines) await writer.append(line);
  await writer.close();
  return writer.path;
}

/** `a-7` started seven seconds after the hour. */
function startOf(attemptId: string): string {
  const number = Number(/\d+$/.exec(attemptId)?.[0] ?? 0);
  return new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
}

describe('writing', () => {
  test('folders are for the user alone, files too', async () => {
    const store = newStore();
    const path = await write(store, 'a-1');
    for (const name of await readdir(dirname(path))) {
      expect((await stat(join(dirname(path), name))).mode & 0o777, name).toBe(0o600);
    }
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
    expect((await stat(store.root)).mode & 0o777).toBe(0o700);
  });

  test('neither names nor the index hold the path of the workspace', async () => {
    const store = newStore();
    const path = await write(store, 'a-1');
    expect(path).not.toContain('shop');
    expect(await readFile(join(dirname(path), '.index.jsonl'), 'utf8')).not.toContain(WORKSPACE);
  });

  test('lines are in the order of the calls, also without waiting', async () => {
    const store = newStore();
    const writer = await store.create({ workspacePath: WORKSPACE, attemptId: 'a-1', redactor });
    const lines: TrajectoryLine[] = [
      header(),
      ...Array.from({ length: 50 }, (_, n) => turn(n)),
      end(),
    ];
    await Promise.all(lines.map((line) => writer.append(line)));
    await writer.close();
    await writer.close();
    const written = (await readFile(writer.path, 'utf8')).trimEnd().split('\n');
    expect(written.map((line) => JSON.parse(line))).toEqual(lines);
    expect(writer.bytes).toBe((await stat(writer.path)).size);
  });

  test('a record is never overwritten', async () => {
    const store = newStore();
    await write(store, 'a-1');
    await expect(write(store, 'a-1')).rejects.toMatchObject({
      name: 'TrajectoryWriteError',
      code: 'exists',
      message: expect.stringContaining('there is already a record of this attempt'),
    });
  });

  test.each(['../a', '.a', '', 'a/b', 'a\\b', 'a b', 'x'.repeat(200)])(
    'the attempt id %j is refused',
    async (attemptId) => {
      await expect(write(newStore(), attemptId)).rejects.toThrow(/cannot be an attempt id/);
    },
  );

  test('a folder that cannot be made is a typed failure with a remedy', async () => {
    const file = join(base, 'a-file');
    await writeFile(file, '');
    const store = createTrajectoryStore(join(file, 'trajectories'));
    await expect(write(store, 'a-1')).rejects.toMatchObject({
      name: 'TrajectoryWriteError',
      remedy: expect.stringContaining('PRIME_AGENT_HOME'),
    });
  });

  test('a line that does not fit the schema is refused and not written', async () => {
    const store = newStore();
    const writer = await store.create({ workspacePath: WORKSPACE, attemptId: 'a-1', redactor });
    await writer.append(header());
    await expect(writer.append({ ...turn(0), policyMs: -1 })).rejects.toThrow(/policyMs/);
    await writer.append(turn(0));
    await writer.close();
    expect((await readFile(writer.path, 'utf8')).trimEnd().split('\n').length).toBe(2);
  });
});

describe('listing', () => {
  test('newest first, of one workspace or of all', async () => {
    const store = newStore();
    for (const id of ['a-2', 'a-1', 'a-3']) await write(store, id);
    await write(store, 'b-2', undefined, '/srv/other');
    expect((await store.list()).map((item) => item.attemptId)).toEqual([
      'a-3',
      'b-2',
      'a-2',
      'a-1',
    ]);
    expect((await store.list('/srv/other')).map((item) => item.attemptId)).toEqual(['b-2']);
    expect(await store.list('/srv/unknown')).toEqual([]);
    expect((await store.list())[0]).toMatchObject({ outcome: 'solved', reward: 1, turns: 1 });
  });

  test('an empty store lists nothing', async () => {
    expect(await newStore().list()).toEqual([]);
  });

  test('unfinished and damaged records are listed as such', async () => {
    const store = newStore();
    const path = await write(store, 'a-1', [turn(0)]);
    await appendFile(path, '{"type":"turn","ind');
    const damaged = await write(store, 'a-2', []);
    await writeFile(damaged, 'nonsense\n');
    const listed = await store.list();
    expect(listed.map(({ attemptId, outcome, turns }) => [attemptId, outcome, turns])).toEqual([
      ['a-1', 'unfinished', 1],
      ['a-2', 'damaged', 0],
    ]);
    expect(listed[1]?.reason).toContain(`${damaged}, line 1: not JSON`);
  });

  test.each([
    ['is missing', async (index: string) => rm(index)],
    ['is cut', async (index: string) => writeFile(index, (await readFile(index)).subarray(0, 700))],
    ['is nonsense', async (index: string) => writeFile(index, '{"a":1}\n\nx\n')],
  ])('when the index %s the records themselves are read, once', async (_, damage) => {
    const store = newStore();
    for (const id of ['a-1', 'a-2', 'a-3']) await write(store, id);
    const index = join(store.root, workspaceFolder(WORKSPACE), '.index.jsonl');
    const before = await store.list();
    await damage(index);
    expect(await store.list()).toEqual(before);
    // A cut last line swallows the first that is appended behind it; the next listing repairs that.
    await store.list();
    const healed = await readFile(index, 'utf8');
    for (const id of ['a-1', 'a-2', 'a-3']) expect(healed).toContain(`"attemptId":"${id}"`);
  });

  test('thousands of attempts are listed without opening one record', async () => {
    const store = newStore();
    const path = await write(store, 'a-1');
    const folder = dirname(path);
    const index = join(folder, '.index.jsonl');
    const [line = ''] = (await readFile(index, 'utf8')).split('\n');
    let lines = '';
    for (let number = 2; number <= 3000; number++) {
      // Opened, it would be listed as damaged.
      await writeFile(join(folder, `a-${number}.jsonl`), 'nonsense\n');
      lines += `${line.replace('"a-1"', `"a-${number}"`)}\n`;
    }
    await appendFile(index, lines);
    const listed = await store.list();
    expect(listed.length).toBe(3000);
    expect(new Set(listed.map((item) => item.outcome))).toEqual(new Set(['solved']));
  });
});

describe('finding', () => {
  test('by id, by its beginning, or not', async () => {
    const store = newStore();
    for (const id of ['abc-1', 'abc-12', 'xyz-1']) await write(store, id);
    expect(await store.find('abc-1')).toMatchObject({
      kind: 'found',
      attempt: { attemptId: 'abc-1' },
    });
    expect(await store.find('x')).toMatchObject({ kind: 'found', attempt: { attemptId: 'xyz-1' } });
    expect(await store.find('abc')).toMatchObject({ kind: 'ambiguous' });
    expect(await store.find('q')).toEqual({ kind: 'missing' });
    expect(await store.find('')).toEqual({ kind: 'missing' });
  });

  test('and reading', async () => {
    const store = newStore();
    await write(store, 'a-1');
    const found = await store.find('a-1');
    if (found.kind !== 'found') throw new Error('not found');
    expect((await store.read(found.attempt)).end).toEqual(end());
  });
});

describe('retention', () => {
  test('the oldest go; pinned ones and those still going on stay', async () => {
    const store = newStore();
    for (let number = 1; number <= 6; number++) {
      const path = await write(store, `a-${number}`, number === 2 ? [turn(0)] : undefined);
      await utimes(path, 1000 + number, number === 2 ? Date.now() / 1000 : 1000 + number);
    }
    const pinned = await store.find('a-1');
    if (pinned.kind !== 'found') throw new Error('not found');
    await store.setPinned(pinned.attempt, true);
    expect(await store.prune({ maxAttempts: 4, maxBytes: 1e9 })).toBe(2);
    expect((await store.list()).map(({ attemptId, pinned: pin }) => [attemptId, pin])).toEqual([
      ['a-6', false],
      ['a-5', false],
      ['a-2', false],
      ['a-1', true],
    ]);
    expect(await store.prune({ maxAttempts: 4, maxBytes: 1e9 })).toBe(0);
    await store.setPinned(pinned.attempt, false);
    expect(await store.prune({ maxAttempts: 0, maxBytes: 0 })).toBe(3);
    expect((await store.list()).map((item) => item.attemptId)).toEqual(['a-2']);
  });
});

describe('a store that is kept', () => {
  test('sees what another one wrote, changed and removed', async () => {
    const store = newStore();
    const other = createTrajectoryStore(store.root);
    const ids = async () => (await store.list(WORKSPACE)).map(({ attemptId }) => attemptId);
    expect(await ids()).toEqual([]);
    for (let number = 1; number <= 5; number++) {
      await write(other, `a-${number}`);
      expect((await ids())[0]).toBe(`a-${number}`);
    }
    const [newest] = await other.list();
    if (newest) await other.remove([newest]);
    expect(await ids()).toEqual(['a-4', 'a-3', 'a-2', 'a-1']);
    await write(other, 'a-9');
    expect(await ids()).toEqual(['a-9', 'a-4', 'a-3', 'a-2', 'a-1']);
  });

  test('follows an attempt that goes on until its end', async () => {
    const store = newStore();
    const writer = await createTrajectoryStore(store.root).create({
      workspacePath: WORKSPACE,
      attemptId: 'a-1',
      redactor,
    });
    const listed = async () =>
      (await store.list()).map(({ outcome, turns }) => [outcome, turns] as const);
    await writer.append(header({ attemptId: 'a-1' }));
    expect(await listed()).toEqual([['unfinished', 0]]);
    await writer.append(turn(0));
    expect(await listed()).toEqual([['unfinished', 1]]);
    await writer.append(end());
    await writer.close();
    expect(await listed()).toEqual([['solved', 1]]);
  });

  test('reads a record without an end once as long as it stays the same', async () => {
    const store = newStore();
    const path = await write(store, 'a-1', [turn(0)]);
    const { size } = await stat(path);
    await utimes(path, 7, 7);
    const before = await store.list();
    // Read again, it would be listed as damaged.
    await writeFile(path, 'x'.repeat(size));
    await utimes(path, 7, 7);
    expect(await store.list()).toEqual(before);
    await utimes(path, 5, 5);
    expect((await store.list())[0]?.outcome).toBe('damaged');
  });
});

describe('removing', () => {
  test('takes away the record, its pin and what the index says of it', async () => {
    const store = newStore();
    for (const id of ['a-1', 'a-2', 'a-3']) await write(store, id);
    await write(store, 'b-1', undefined, '/srv/other');
    const [third, , first] = await store.list(WORKSPACE);
    const [other] = await store.list('/srv/other');
    if (!first || !third || !other) throw new Error('not listed');
    await store.setPinned(first, true);
    await store.remove([first, third, other]);
    const folder = join(store.root, workspaceFolder(WORKSPACE));
    expect((await readdir(folder)).sort()).toEqual(['.index.jsonl', 'a-2.jsonl']);
    expect(await readFile(join(folder, '.index.jsonl'), 'utf8')).not.toMatch(/"a-[13]"/);
    expect((await store.list()).map(({ attemptId }) => attemptId)).toEqual(['a-2']);
    await store.remove([first]);
  });
});

test('the root follows PRIME_AGENT_HOME, else the user’s data folder', () => {
  expect(trajectoriesRoot({ PRIME_AGENT_HOME: '/data/prime' })).toBe('/data/prime/trajectories');
  expect(trajectoriesRoot({})).toMatch(/prime-agent.*trajectories$/);
});
