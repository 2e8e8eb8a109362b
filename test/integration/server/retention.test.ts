import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openFolders } from '../../../server/src/folders.ts';
import { createFileSweep } from '../../../server/src/retention/files.ts';
import { createBlobStore } from '../../../server/src/store/blobs.ts';
import { createClaims } from '../../../server/src/store/claims.ts';
import { type Db, openDatabase } from '../../../server/src/store/database.ts';
import { learnableRows } from '../../../server/src/store/learnable.ts';
import { connect, type LiveConnection } from '../../../src/core/outbox/connection.ts';
import { parseTrajectories } from '../../../src/core/trajectories/reader.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';
import { runCli } from './cli.ts';
import { client, upload } from './upload-by-hand.ts';
import { packed, startWorld, trajectory, type World } from './world.ts';

async function withUploads(
  ids: readonly string[],
  config: Record<string, unknown> = {},
): Promise<{ world: World; connection: LiveConnection }> {
  const world = await startWorld(config);
  const connection = await connect({ url: world.server.url, token: world.token() }, client);
  for (const id of ids) {
    const stored = await upload(connection, packed(trajectory(id, 20_000)));
    expect(stored).toMatchObject({ type: 'upload.stored' });
  }
  return { world, connection };
}

function query(data: string, sql: string): unknown[] {
  const db: Db = openDatabase(openFolders(data).database);
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

async function blobsOf(data: string, kind = 'blobs'): Promise<string[]> {
  const found = await readdir(join(data, kind), { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map(({ name }) => name);
}

const kept = (data: string): unknown[] =>
  query(
    data,
    'SELECT attempt_id AS id FROM trajectories WHERE removed_at IS NULL ORDER BY seq',
  ).map((row) => (row as { id: string }).id);

describe('retention', () => {
  test('takes the oldest contents away, judged ones first; the lineage and the totals stay true', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const { world, connection } = await withUploads(ids, { retention: { trajectories: 3 } });
    query(world.data, "UPDATE trajectories SET claim = 'holds' WHERE attempt_id = 'd' RETURNING 1");
    await world.server.retention.run();
    // `d` was judged and goes before those that nobody has looked at.
    expect(kept(world.data)).toEqual(['c', 'e', 'f']);
    expect(await blobsOf(world.data)).toHaveLength(3);
    const rows = query(
      world.data,
      'SELECT attempt_id, claimed_reward, task_id, content FROM trajectories',
    );
    expect(rows).toHaveLength(6);
    expect(rows[0]).toMatchObject({ attempt_id: 'a', claimed_reward: 1, task_id: 't-1' });
    const [totals] = query(
      world.data,
      'SELECT sum(trajectories) AS n, sum(kept) AS kept, sum(bytes) AS bytes FROM totals',
    );
    const [sums] = query(
      world.data,
      'SELECT sum(blob_bytes) AS bytes FROM trajectories WHERE removed_at IS NULL',
    );
    expect(totals).toEqual({ n: 6, kept: 3, ...(sums as object) });
    // Judged later, without content: counted, and no byte comes back.
    query(
      world.data,
      "UPDATE trajectories SET claim = 'broken' WHERE attempt_id = 'a' RETURNING 1",
    );
    expect(query(world.data, "SELECT * FROM totals WHERE claim = 'broken'")).toMatchObject([
      { trajectories: 1, kept: 0, bytes: 0 },
    ]);
    // What was stored is final, also without its content.
    expect(await upload(connection, packed(trajectory('a', 20_000)))).toMatchObject({
      type: 'upload.stored',
      duplicate: true,
    });
    connection.close();
  });

  test('leaves ids, parents, rewards and hashes readable, also of rows that a learner has read', async () => {
    const ids = ['a', 'b', 'c', 'd'];
    const { world, connection } = await withUploads(ids, { retention: { trajectories: 2 } });
    connection.close();
    const db = openDatabase(openFolders(world.data).database);
    const claims = createClaims(db);
    const verdict = { reason: null, flags: [] };
    claims.judge(1, { ...verdict, claim: 'holds', outcome: 'solved', reward: 1 });
    claims.judge(2, { ...verdict, claim: 'broken', outcome: 'failed', reward: 0 });
    const read = learnableRows(db, 0, 10);
    expect(read.map(({ attemptId }) => attemptId)).toEqual(['a']);
    const before = query(world.data, 'SELECT * FROM trajectories ORDER BY seq');
    await world.server.retention.run();
    expect(kept(world.data)).toEqual(['c', 'd']);
    // A learner gets nothing that it could not open.
    expect(learnableRows(db, 0, 10)).toEqual([]);
    db.close();

    const place = ['--data', world.data, '--json'];
    const listed = JSON.parse((await runCli(['data', 'ls', 'trajectories', ...place])).out);
    const items = new Map(
      listed.trajectories.map((item: { id: string }) => [item.id, item] as const),
    );
    expect(items.get('alice/a')).toMatchObject({ removedAt: expect.any(String) });
    expect(items.get('alice/d')).toMatchObject({ removedAt: null });
    const out = join(await tempFolder(), 'export');
    expect(await runCli(['data', 'export', out, ...place])).toMatchObject({ code: 0 });
    const lineage = (await readFile(join(out, 'lineage.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const [a, b] = lineage;
    expect(lineage).toHaveLength(4);
    const { blob, task, policyHash, scaffoldHash, seq } = read[0] ?? {};
    expect(a).toMatchObject({
      ...{ attempt_id: 'a', contributor: 'alice', series_id: expect.any(String), task_id: task },
      ...{ claimed_reward: 1, claim: 'holds', verified_reward: 1, verified_seq: seq },
      ...{ blob, content: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ...{ policy_hash: policyHash, scaffold_hash: scaffoldHash },
    });
    expect(b).toMatchObject({
      attempt_id: 'b',
      claim: 'broken',
      claimed_reward: 1,
      verified_reward: 0,
    });
    // Nothing but the time of the removal has changed.
    expect(lineage.map((row) => ({ ...row, removed_at: null }))).toEqual(before);
  });

  test('keeps within bytes, archives and versions of policies, but not below what is pinned', async () => {
    const { world, connection } = await withUploads(['a', 'b', 'c'], {
      retention: { blobBytes: 40_000, taskArchives: 2, policyVersions: 1 },
    });
    connection.close();
    const { archives, policies, retention } = world.server;
    for (const text of ['one', 'two', 'three']) {
      await archives.add(Buffer.from(text), { taskId: text, contributor: 'alice' });
    }
    const folder = await tempFolder();
    await writeFiles(folder, { 'model.onnx': 'x' });
    for (const parent of [null, 1, 2]) {
      await policies.publish({ folder, parent, scaffoldHash: 'f' });
    }
    expect(policies.setPinned(1, true)).toBe(true);
    await retention.run();
    expect(kept(world.data).length).toBeLessThan(3);
    expect(await blobsOf(world.data, 'trees')).toHaveLength(2);
    expect((await readdir(join(world.data, 'policies'))).sort()).toEqual([
      'policy-v1',
      'policy-v3',
    ]);
    const versions = policies.list();
    expect(versions.map(({ version, removedAt }) => [version, removedAt === null])).toEqual([
      [3, true],
      [2, false],
      [1, true],
    ]);
    const get = (path: string): Promise<Response> =>
      fetch(`${world.server.url}/v1/policies/${path}`, {
        headers: { authorization: `Bearer ${world.token()}` },
      });
    expect((await get('2')).status).toBe(410);
    expect((await get('3')).status).toBe(200);
    // A version whose files went can be a parent still, and no number is given twice.
    expect(await policies.publish({ folder, parent: 2, scaffoldHash: 'f' })).toMatchObject({
      version: 4,
      parent: 2,
    });
  });

  test('a quota of a contributor counts what is kept', async () => {
    const { world, connection } = await withUploads(['a'], {
      quota: { trajectories: 1 },
      retention: { trajectories: 1 },
    });
    const second = packed(trajectory('b', 20_000));
    expect(await upload(connection, second)).toMatchObject({ error: { code: 'quota_exceeded' } });
    query(world.data, "UPDATE trajectories SET removed_at = 'now' RETURNING 1");
    expect(await upload(connection, second)).toMatchObject({ type: 'upload.stored' });
    connection.close();
  });

  test('files that nothing needs go, and never one that an upload in flight does', async () => {
    const { world, connection } = await withUploads(['a']);
    connection.close();
    await world.server.close();
    const folders = openFolders(world.data);
    const orphan = 'ab'.repeat(32);
    const inFlight = 'cd'.repeat(32);
    for (const name of [orphan, inFlight]) {
      await mkdir(join(folders.blobs, name.slice(0, 2)), { recursive: true });
      await writeFile(join(folders.blobs, name.slice(0, 2), name), 'x');
    }
    const db = openDatabase(folders.database);
    const blobs = createBlobStore(folders.blobs);
    const sweep = createFileSweep(db, { blobs, trees: createBlobStore(folders.trees) });
    const release = blobs.hold(inFlight);
    expect(await sweep.removeOrphans()).toBe(1);
    expect((await blobsOf(world.data)).includes(inFlight)).toBe(true);
    expect(await blobsOf(world.data)).toHaveLength(2);
    release();
    expect(await sweep.removeOrphans()).toBe(1);
    expect(await blobsOf(world.data)).toHaveLength(1);
    db.close();
  });

  test('files of tasks stay, and those that another process has just put there; what nothing names goes later', async () => {
    const world = await startWorld();
    await world.server.close();
    const folders = openFolders(world.data);
    const names = ['11', '22', '33', '44'].map((part) => part.repeat(32));
    const [ofTask = '', ofSnapshot = '', orphan = '', fresh = ''] = names;
    const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
    for (const name of names) {
      await mkdir(join(folders.trees, name.slice(0, 2)), { recursive: true });
      const file = join(folders.trees, name.slice(0, 2), name);
      await writeFile(file, 'x');
      if (name !== fresh) await utimes(file, longAgo, longAgo);
    }
    const db = openDatabase(folders.database);
    db.prepare('INSERT INTO task_trees VALUES (?, ?, 1)').run('files', ofTask);
    db.prepare(
      "INSERT INTO snapshots (contributor, task_id, blob, bytes, added_at) VALUES ('a', 't', ?, 1, '')",
    ).run(ofSnapshot);
    const stores = {
      blobs: createBlobStore(folders.blobs),
      trees: createBlobStore(folders.trees),
    };
    expect(await createFileSweep(db, stores).removeOrphans()).toBe(1);
    expect((await blobsOf(world.data, 'trees')).includes(orphan)).toBe(false);
    expect((await blobsOf(world.data, 'trees')).sort()).toEqual([ofTask, ofSnapshot, fresh]);
    db.close();
  });

  test('sweeping all the while uploads come in loses none of them', async () => {
    const { world, connection } = await withUploads([]);
    const folders = openFolders(world.data);
    let going = true;
    const sweeping = (async () => {
      let rounds = 0;
      while (going) {
        await world.server.retention.run('orphans');
        rounds += 1;
      }
      return rounds;
    })();
    const ids = Array.from({ length: 25 }, (_, index) => `s-${index}`);
    for (const id of ids) {
      expect(await upload(connection, packed(trajectory(id, 5_000)))).toMatchObject({
        type: 'upload.stored',
      });
    }
    going = false;
    expect(await sweeping).toBeGreaterThan(0);
    connection.close();
    for (const row of query(world.data, 'SELECT blob FROM trajectories')) {
      const { blob } = row as { blob: string };
      expect(existsSync(join(folders.blobs, blob.slice(0, 2), blob))).toBe(true);
    }
  });
});

describe('prime-agent data', () => {
  test('says that there is no data where there is none, and makes none', async () => {
    const folder = await tempFolder();
    const result = await runCli(['data', 'ls', '--data', join(folder, 'none')]);
    expect(result).toMatchObject({ code: 3, err: expect.stringContaining('holds no data') });
    expect(await readdir(folder)).toEqual([]);
  });

  test('lists and removes beside a running server, and without one', async () => {
    const { world, connection } = await withUploads(['a', 'b', 'c']);
    connection.close();
    const place = ['--data', world.data];
    expect((await runCli(['data', 'ls', ...place])).out).toMatch(/^trajectories {2}3 of 2000000 /);
    const list = await runCli(['data', 'ls', 'trajectories', '--json', ...place]);
    const items = JSON.parse(list.out).trajectories as { id: string }[];
    expect(items.map(({ id }) => id)).toEqual(['alice/c', 'alice/b', 'alice/a']);

    const refused: [string[], string][] = [
      [['trajectories', '../../etc/passwd'], 'cannot be an id'],
      [['trajectories', 'alice/a/b'], 'cannot be an id'],
      [['trajectories', "a' OR 1=1 --"], 'cannot be an id'],
      [['trajectories', 'a\u001b[2J'], 'cannot be an id'],
      [['trajectories', ''], 'cannot be an id'],
      [['trajectories', 'a', 'nobody/a'], 'no trajectory is called'],
      [['tasks', 'abc'], 'cannot be an id'],
      [['tasks', 'a'.repeat(64)], 'no task archive is called'],
      [['policies', '-1x'], 'cannot be an id'],
      [['policies', '7'], 'no policy version is called'],
    ];
    for (const [args, text] of refused) {
      const result = await runCli(['data', 'rm', '--yes', ...place, '--', ...args]);
      expect(result, args.join(' ')).toMatchObject({ code: 3, err: expect.stringContaining(text) });
      expect(result.err).not.toContain('\u001b');
    }
    expect(kept(world.data)).toHaveLength(3);

    const rm = ['data', 'rm', 'trajectories', 'alice/a', ...place];
    expect(await runCli(rm)).toMatchObject({ code: 3, err: expect.stringContaining('say --yes') });
    expect(await runCli(rm, {}, 'no')).toMatchObject({ code: 1 });
    expect(kept(world.data)).toHaveLength(3);
    const removed = await runCli(rm, {}, 'y');
    expect(removed).toMatchObject({ code: 0, out: expect.stringContaining('A server is running') });
    await world.server.retention.run();
    expect(await blobsOf(world.data)).toHaveLength(2);
    expect((await runCli(rm, {}, 'y')).err).toContain('went on');

    await world.server.close();
    expect(await runCli(['data', 'rm', 'trajectories', 'b', '--yes', ...place])).toMatchObject({
      code: 0,
      out: 'The content of alice/b is removed.\n',
    });
    expect(await blobsOf(world.data)).toHaveLength(1);
    expect((await runCli(['data', 'ls', ...place])).out).toContain('2 without content');
  });

  test('an archive of two contributors is one; a pinned version stays', async () => {
    const world = await startWorld();
    const { archives, policies } = world.server;
    for (const contributor of ['alice', 'bob']) {
      await archives.add(Buffer.from('same'), { taskId: 't', contributor });
    }
    const folder = await tempFolder();
    await writeFiles(folder, { 'model.onnx': 'x' });
    await policies.publish({ folder, parent: null, scaffoldHash: 'f' });
    policies.setPinned(1, true);
    await world.server.close();
    const place = ['--yes', '--data', world.data];
    const [hash = ''] = await blobsOf(world.data, 'trees');
    expect(await runCli(['data', 'rm', 'tasks', hash.slice(0, 8), ...place])).toMatchObject({
      code: 0,
    });
    expect(await blobsOf(world.data, 'trees')).toEqual([]);
    expect(await runCli(['data', 'rm', 'policies', 'policy-v1', ...place])).toMatchObject({
      code: 3,
      err: expect.stringContaining('is pinned'),
    });
    expect(await readdir(join(world.data, 'policies'))).toEqual(['policy-v1']);
  });

  test('exports records that can be read again, the lineage of all, archives and policies', async () => {
    const { world, connection } = await withUploads(['a', 'b', 'c']);
    connection.close();
    const { archives, policies } = world.server;
    const { sha256 } = await archives.add(Buffer.from('files'), {
      taskId: 't',
      contributor: 'bob',
    });
    const folder = await tempFolder();
    await writeFiles(folder, { 'model.onnx': 'x' });
    await policies.publish({ folder, parent: null, scaffoldHash: 'f' });
    const place = ['--data', world.data];
    await runCli(['data', 'rm', 'trajectories', 'a', '--yes', ...place]);
    const [damaged] = query(world.data, "SELECT blob FROM trajectories WHERE attempt_id = 'c'");
    const { blob } = damaged as { blob: string };
    await writeFile(join(world.data, 'blobs', blob.slice(0, 2), blob), 'not gzip');

    const out = join(await tempFolder(), 'export');
    const result = await runCli(['data', 'export', out, ...place]);
    expect(result).toMatchObject({
      code: 3,
      out: `${out}: 1 trajectories, 1 task archives, 1 policy versions; 1 without content\n`,
      err: expect.stringContaining('alice/c is not what was stored'),
    });
    const records = parseTrajectories(await readFile(join(out, 'trajectories.jsonl'), 'utf8'), out);
    expect(records.map(({ header }) => header.attemptId)).toEqual(['b']);
    const lineage = (await readFile(join(out, 'lineage.jsonl'), 'utf8')).trim().split('\n');
    expect(lineage.map((line) => JSON.parse(line).attempt_id)).toEqual(['a', 'b', 'c']);
    expect(await readFile(join(out, 'archives', sha256), 'utf8')).toBe('files');
    expect(await readFile(join(out, 'policies/policy-v1/files/model.onnx'), 'utf8')).toBe('x');
    const again = await runCli(['data', 'export', out, ...place]);
    expect(again).toMatchObject({ code: 3, err: expect.stringContaining('is there already') });
  });
});
