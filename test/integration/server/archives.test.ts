import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createConsentStore } from '../../../src/core/outbox/consent.ts';
import { openDesk } from '../../../src/core/outbox/desk.ts';
import { createFindFiles } from '../../../src/core/outbox/files.ts';
import { outboxRoot } from '../../../src/core/outbox/folder.ts';
import { createOutbox } from '../../../src/core/outbox/outbox.ts';
import { sendWaiting } from '../../../src/core/outbox/sender.ts';
import { createRedactor } from '../../../src/core/redaction/redactor.ts';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import { unpackTree } from '../../../src/core/tasks/archive.ts';
import { trajectoriesRoot, workspaceFolder } from '../../../src/core/trajectories/folder.ts';
import { createTrajectoryStore } from '../../../src/core/trajectories/store.ts';
import type { Trajectory } from '../../../src/core/trajectories/trajectory.ts';
import { tempFolder } from '../../support/temp.ts';
import { type CliResult, runCli } from './cli.ts';
import { cutProxy } from './cut-proxy.ts';
import { client, connected } from './upload-by-hand.ts';
import {
  attemptAt,
  FAILING,
  FAILING_TARGET,
  LONG_MS,
  until,
  WORKING,
  withData,
} from './work-world.ts';
import { bundledPrograms, sha256, startWorld, storedAttempts, type World } from './world.ts';

const programs = bundledPrograms('worker');
const SECRET = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';

interface Desk {
  readonly env: Record<string, string>;
  readonly workspace: string;
  record(trajectory: Trajectory): Promise<void>;
  /** The snapshot of the workspace as it is now. */
  snapshot(include?: readonly string[]): Promise<string>;
  cli(argv: readonly string[]): Promise<CliResult>;
}

/** A user's machine with a git repository, in which a test fails. */
async function desk(files: Readonly<Record<string, string>> = FAILING): Promise<Desk> {
  const home = await tempFolder();
  const env: Record<string, string> = { PRIME_AGENT_HOME: home, PATH: process.env.PATH ?? '' };
  const workspace = join(await tempFolder(), 'shop');
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), text);
  }
  execFileSync('git', ['init', '-q'], { cwd: workspace });
  const store = createTrajectoryStore(trajectoriesRoot(env));
  return {
    env,
    workspace,
    async record({ header, turns, end }) {
      const redactor = createRedactor({ workspacePath: workspace });
      const { attemptId } = header;
      const writer = await store.create({ workspacePath: workspace, attemptId, redactor });
      for (const line of [header, ...turns, ...(end ? [end] : [])]) await writer.append(line);
      await writer.close();
    },
    async snapshot(include = []) {
      const made = await makeBase(workspace, { stateDir: home, include });
      if (made.kind !== 'base') throw new Error(made.reason);
      await made.base.release();
      return made.base.id;
    },
    cli: (argv) => runCli(argv, { env, cwd: workspace }),
  };
}

/** An attempt that has ended, at the snapshot of this moment. */
async function attempt(at: Desk, attemptId: string, taskId = 'task'): Promise<Trajectory> {
  const task = { framework: 'node:test', targets: [FAILING_TARGET] };
  const made = attemptAt(taskId, attemptId, {}, { ...task, snapshotId: await at.snapshot() });
  await at.record(made);
  return made;
}

interface Row {
  readonly attempt_id: string;
  readonly claim: string;
  readonly claim_reason: string | null;
}
const claims = (world: World): Promise<ReadonlyMap<string, Row>> =>
  withData(world.data, (db) => {
    const rows = db.prepare('SELECT attempt_id, claim, claim_reason FROM trajectories').all();
    return new Map((rows as Row[]).map((row) => [row.attempt_id, row]));
  });
const snapshots = (world: World) =>
  withData(
    world.data,
    (db) =>
      db.prepare('SELECT task_id, blob, left_out, state FROM snapshots ORDER BY 1').all() as {
        readonly task_id: string;
        readonly blob: string;
        readonly left_out: number;
        readonly state: string;
      }[],
  );
const archiveOf = async (world: World, blob: string) =>
  unpackTree(await readFile(join(world.data, 'trees', blob.slice(0, 2), blob)));

test(
  'a real attempt is fixed, allowed, sent with its files and repeated: its claim holds; a forged one is broken',
  async () => {
    const at = await desk({ ...FAILING, '.gitignore': '.env\n', '.env': `TOKEN=${SECRET}\n` });
    const { env, cli } = at;
    const fixed = await cli(['fix', '.', '--sandbox', 'local', '--no-parity', '--json']);
    expect(fixed).toMatchObject({ code: 0 });
    const preview = await cli(['outbox', 'preview']);
    expect(preview.out).toMatch(/The files that the attempt had before it: 4 files, .*packed/);
    expect(preview.out).toMatch(/ 35 B {2}src\/twice\.js/);
    const allowed = await cli(['outbox', 'allow', '--yes']);
    expect(allowed.out).toContain('with their files');
    const world = await startWorld(WORKING, { workerFile: programs().worker });
    env.PRIME_AGENT_TOKEN = world.token();
    const send = ['outbox', 'send', '--server', world.server.url, '--json'];
    const store = createTrajectoryStore(trajectoriesRoot(env));
    // On a busy machine the first attempt may be a failed one; each is sent, with the same files.
    const attempts = await store.list(at.workspace);
    const count = attempts.length;
    expect(JSON.parse((await cli(send)).out)).toMatchObject({
      ...{ sent: count, refused: 0, waiting: 0 },
      files: { sent: count, refused: 0, waiting: 0 },
    });
    const [stored, second] = await snapshots(world);
    expect(second).toBeUndefined();
    const tree = await archiveOf(world, stored?.blob ?? '');
    expect([...tree.keys()]).toEqual(['.gitignore', ...Object.keys(FAILING)]);
    const solved = attempts.find(({ outcome }) => outcome === 'solved');
    if (!solved) throw new Error('nothing was solved');
    await until(
      () => claims(world),
      (rows) => [...rows.values()].every(({ claim }) => claim !== 'waiting'),
      'a verdict',
    );
    expect((await claims(world)).get(solved.attemptId)).toMatchObject({ claim: 'holds' });
    expect(await snapshots(world)).toMatchObject([{ left_out: 0, state: 'admitted' }]);
    expect(world.server.status().tasks).toMatchObject({ admitted: 1, refused: 0 });

    // The same task, a patch that does not help, and a reward of 1.
    const honest = await store.read(solved);
    const patch = honest.end?.patch.replace(
      /^\+.*n \* 2.*$/m,
      '+export const twice = (n) => n * 3;',
    );
    expect(patch).not.toBe(honest.end?.patch);
    await at.record({
      ...honest,
      header: { ...honest.header, attemptId: 'forged' },
      end: honest.end && { ...honest.end, patch: patch ?? '' },
    });
    expect(JSON.parse((await cli(send)).out)).toMatchObject({ sent: 1, files: { sent: 1 } });
    await until(
      () => claims(world),
      (rows) => rows.get('forged')?.claim !== 'waiting',
      'a verdict on the forged one',
    );
    expect((await claims(world)).get('forged')).toMatchObject({
      claim: 'broken',
      claim_reason: expect.stringMatching(/claims solved .*here it is failed/),
    });
    expect((await cli(['outbox', 'ls'])).out).toMatch(/forged {2}sent \S+; files sent/);
  },
  LONG_MS,
);

describe('only what may leave goes', () => {
  test('not what is ignored, by a wish or since; not what holds a secret; and the server is told', async () => {
    const at = await desk({
      ...FAILING,
      '.gitignore': 'wanted.txt\n',
      'wanted.txt': 'asked for\n',
      'later.txt': 'not ignored yet\n',
      'deploy.key': 'by its name\n',
      'src/token.js': `export const token = '${SECRET}';\n`,
      'src/credentials.js': 'export const credentials = {};\n',
    });
    const { workspace, env } = at;
    execFileSync('ln', ['-s', '/etc/hostname', join(workspace, 'out')]);
    execFileSync('ln', ['-s', 'src/twice.js', join(workspace, 'in')]);
    const snapshotId = await at.snapshot(['wanted.txt']);
    await writeFile(join(workspace, '.gitignore'), 'wanted.txt\nlater.txt\n');
    const redactor = createRedactor({ workspacePath: workspace });
    const stateDir = env.PRIME_AGENT_HOME ?? '';
    const find = createFindFiles({ stateDir, workspacePath: workspace, redactor });
    const task = { ...attemptAt('t', 'a', {}).header.task, framework: 'node:test', snapshotId };
    const files = await find(task);
    if (files.kind !== 'archive') throw new Error(files.reason);
    const left = Object.fromEntries(files.leftOut.map(({ path, why }) => [path, why]));
    expect(left).toEqual({
      'deploy.key': 'secret-name',
      'later.txt': 'ignored',
      out: 'outside',
      'src/token.js': 'secret-found',
      'wanted.txt': 'ignored',
    });
    const tree = unpackTree(files.bytes);
    expect([...tree.keys()].sort()).toEqual(
      ['.gitignore', 'in', 'src/credentials.js', ...Object.keys(FAILING)].sort(),
    );
    // As it was then: the rule came later.
    expect(String(tree.get('.gitignore')?.content)).toBe('wanted.txt\n');
    expect(files.files.map(({ path }) => path).sort()).toEqual([...tree.keys()].sort());
    expect(files.bytes.toString('latin1')).not.toContain(SECRET);
    expect(sha256(files.bytes)).toBe(files.sha256);
    expect(await find({ ...task, framework: 'command' })).toMatchObject({ kind: 'none' });
    expect(await find({ ...task, snapshotId: '../../etc' })).toEqual({
      kind: 'none',
      reason: 'the snapshot that it started from is not kept here any more',
    });
  });

  test(
    'where files are missing, another result is no forgery',
    async () => {
      const at = await desk({
        ...FAILING,
        'config.pem': 'n * 2\n',
        'src/twice.js':
          "import { readFileSync } from 'node:fs';\nconst there = readFileSync('config.pem', 'utf8');\nexport const twice = (n) => (there ? n + 2 : 0);\n",
      });
      await attempt(at, 'honest');
      await at.cli(['outbox', 'allow', '--yes']);
      const world = await startWorld(WORKING, { workerFile: programs().worker });
      at.env.PRIME_AGENT_TOKEN = world.token();
      await at.cli(['outbox', 'send', '--server', world.server.url]);
      await until(
        () => claims(world),
        (rows) => rows.get('honest')?.claim !== 'waiting',
        'a verdict',
      );
      expect(await snapshots(world)).toMatchObject([{ left_out: 1 }]);
      expect((await claims(world)).get('honest')).toMatchObject({ claim: 'unverifiable' });
      expect(world.server.status().claims.flagged).toEqual([]);
    },
    LONG_MS,
  );
});

describe('consent', () => {
  test('that was given before there were archives, or without them, does not cover them', async () => {
    const at = await desk();
    const { env, workspace, cli } = at;
    await attempt(at, 'a-1');
    const consent = join(outboxRoot(env), 'consent', `${workspaceFolder(workspace)}.json`);
    await mkdir(dirname(consent), { recursive: true });
    const given = { workspacePath: workspace, allowedAt: new Date().toISOString() };
    await writeFile(consent, JSON.stringify({ version: 1, ...given, previewed: 'a-1' }));
    const world = await startWorld();
    env.PRIME_AGENT_TOKEN = world.token();
    const send = ['outbox', 'send', '--server', world.server.url, '--json'];
    const sent = async () => JSON.parse((await cli(send)).out);
    expect(await sent()).toMatchObject({ sent: 1, files: { sent: 0, waiting: 0 } });
    expect((await cli(['outbox', 'ls'])).out).toContain('without files');
    expect((await cli(['outbox', 'allow', '--yes', '--no-files'])).out).toContain(
      'without their files',
    );
    await attempt(at, 'a-2');
    expect(await sent()).toMatchObject({ sent: 1, files: { sent: 0 } });
    expect(await snapshots(world)).toEqual([]);
    // Shown and allowed: those that were sent without follow.
    const allowed = JSON.parse((await cli(['outbox', 'allow', '--yes', '--json'])).out);
    expect(allowed).toEqual({ workspace, allowed: true, files: true });
    expect(await sent()).toMatchObject({ sent: 0, files: { sent: 2 } });
    expect(await snapshots(world)).toMatchObject([{ task_id: 'task', state: 'new' }]);
  });

  test('that is taken back, or narrowed, takes the files along that wait', async () => {
    const at = await desk();
    const { env, workspace, cli } = at;
    for (const id of ['a-1', 'a-2']) await attempt(at, id);
    await cli(['outbox', 'allow', '--yes']);
    env.PRIME_AGENT_TOKEN = 'pa_0000000000000000_x';
    const nowhere = ['outbox', 'send', '--server', 'http://127.0.0.1:1'];
    const names = async () => (await readdir(outboxRoot(env))).sort();
    await cli(nowhere);
    expect(await names()).toEqual([
      ...['a-1.files', 'a-1.gz', 'a-1.json', 'a-2.files', 'a-2.gz', 'a-2.json', 'consent'],
    ]);
    // Attempts at one state of the files share them on the disk.
    expect((await stat(join(outboxRoot(env), 'a-1.files'))).nlink).toBe(2);
    await cli(['outbox', 'withdraw', 'a-2']);
    expect(await names()).toEqual(['a-1.files', 'a-1.gz', 'a-1.json', 'a-2.json', 'consent']);
    await cli(['outbox', 'allow', '--yes', '--no-files']);
    expect(await names()).toEqual(['a-1.gz', 'a-1.json', 'a-2.json', 'consent']);
    await cli(['outbox', 'allow', '--yes']);
    await cli(nowhere);
    expect(await names()).toContain('a-1.files');
    await cli(['outbox', 'deny']);
    expect(await names()).toEqual(['a-2.json', 'consent']);
    expect(await createConsentStore(outboxRoot(env)).permit(workspace)).toBeUndefined();
  });
});

describe('on their way', () => {
  /** Packs badly, so that it is cut in the middle. */
  const LARGE = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `data/${index}.txt`,
      Array.from({ length: 400 }, (__, line) => sha256(Buffer.from(`${index} ${line}`))).join('\n'),
    ]),
  );

  test('a cut archive goes on where it was, after its record, and is stored once', async () => {
    const at = await desk({ ...FAILING, ...LARGE });
    await attempt(at, 'a-1');
    const handled = openDesk({ env: at.env });
    await handled.allow(at.workspace, await handled.preview(at.workspace));
    await handled.offer();
    const world = await startWorld();
    const proxy = await cutProxy(world.server.url, 'from-client', [300_000, 200_000]);
    const server = { url: proxy.url, token: world.token() };
    await expect(handled.send(server, { client })).rejects.toThrow();
    expect(await handled.outbox.list()).toMatchObject([
      { state: { kind: 'sent' }, files: { kind: 'waiting' } },
    ]);
    expect(storedAttempts(world.data)).toEqual(['a-1']);
    await expect(handled.send(server, { client })).rejects.toThrow();
    const before = Number(
      /prime_agent_received_bytes_total\S* (\d+)/.exec(await metrics(world))?.[1],
    );
    // Another process, later.
    const again = createOutbox(outboxRoot(at.env));
    const [entry] = await again.list();
    const total = entry?.files?.kind === 'waiting' ? entry.files.bytes : 0;
    expect(total).toBeGreaterThan(550_000);
    expect(await sendWaiting(again, server, { client })).toMatchObject({
      ...{ sent: 0, files: { sent: 1, refused: 0, waiting: 0 } },
    });
    expect(await again.list()).toMatchObject([{ files: { kind: 'sent' } }]);
    const [stored] = await snapshots(world);
    expect((await archiveOf(world, stored?.blob ?? '')).size).toBe(43);
    // What had arrived was not sent again.
    if (!Number.isNaN(before)) {
      const after = Number(
        /prime_agent_received_bytes_total\S* (\d+)/.exec(await metrics(world))?.[1],
      );
      expect(after - before).toBeLessThan(total - 200_000);
    }
    expect(await readdir(join(world.data, 'incoming'))).toEqual([]);
  });

  test('what a server does not take goes without, and that is said', async () => {
    const at = await desk({ ...FAILING, ...LARGE });
    await attempt(at, 'a-1');
    await at.cli(['outbox', 'allow', '--yes']);
    const world = await startWorld({ limits: { archiveBytes: 100_000 } });
    at.env.PRIME_AGENT_TOKEN = world.token();
    const sent = await at.cli(['outbox', 'send', '--server', world.server.url]);
    expect(sent.code).toBe(1);
    expect(sent.out).toContain('The files before them: 0 sent, 1 refused, 0 waiting');
    expect(storedAttempts(world.data)).toEqual(['a-1']);
    expect((await at.cli(['outbox', 'ls'])).out).toMatch(
      /a-1 {2}sent .*files refused: .*this server takes 100000/,
    );
    // The snapshot of an older attempt is gone.
    const gone = await attempt(at, 'a-2', 'other');
    const folder = join(at.env.PRIME_AGENT_HOME ?? '', 'snapshots', gone.header.task.snapshotId);
    await rm(folder, { recursive: true });
    await at.cli(['outbox', 'send', '--server', world.server.url]);
    expect(storedAttempts(world.data)).toEqual(['a-1', 'a-2']);
    expect((await at.cli(['outbox', 'ls'])).out).toMatch(/a-2 .*no files: the snapshot .*not kept/);
  });

  test('a server refuses archives without a trajectory, other ones of the same task, what is too much, and another hash', async () => {
    const at = await desk();
    await attempt(at, 'a-1');
    const handled = openDesk({ env: at.env });
    await handled.allow(at.workspace, await handled.preview(at.workspace));
    await handled.offer();
    const world = await startWorld({ quota: { bytes: 1_000_000 } });
    const token = world.token();
    await handled.send({ url: world.server.url, token }, { client });
    const connection = await connected(world, token);
    const bytes = Buffer.from('no archive at all');
    const begin = { type: 'archive.begin', upload: sha256(bytes), bytes: bytes.length } as const;
    const ask = async (over: object, content?: Buffer) => {
      connection.send({ ...begin, taskId: 'task', leftOut: 0, ...over });
      for (;;) {
        const message = await connection.next();
        if (message?.type === 'upload.ready' && content) {
          await connection.sendChunk({ upload: message.upload, offset: 0, bytes: content });
        } else if (message?.type !== 'upload.progress') return message;
      }
    };
    expect(await ask({ taskId: 'nobody' })).toMatchObject({ error: { code: 'not_found' } });
    expect(await ask({})).toMatchObject({ error: { code: 'conflict' } });
    const [stored] = await snapshots(world);
    expect(await ask({ upload: stored?.blob })).toMatchObject({
      ...{ type: 'archive.stored', duplicate: true },
    });
    await attempt(at, 'a-2', 'other');
    await handled.offer();
    await sendWaiting(handled.outbox, { url: world.server.url, token }, { client });
    // The same files for another task: nothing was sent again, and each task has them.
    expect(await snapshots(world)).toMatchObject([{ blob: stored?.blob }, { blob: stored?.blob }]);
    await at.record(attemptAt('third', 'a-3', {}));
    await handled.offer();
    await handled.send({ url: world.server.url, token }, { client });
    const third = { taskId: 'third' };
    expect(await ask({ ...third, bytes: 2_000_000 })).toMatchObject({
      error: { code: 'quota_exceeded' },
    });
    expect(await ask({ ...third, upload: 'a'.repeat(64) }, bytes)).toMatchObject({
      error: { code: 'hash_mismatch' },
    });
    // Another contributor has no attempt at it, and learns nothing.
    const other = await connected(world, world.token('contributor', 'bob'));
    other.send({ ...begin, taskId: 'task', leftOut: 0, upload: stored?.blob ?? '' });
    expect(await other.next()).toMatchObject({ error: { code: 'not_found' } });
    other.close();
    connection.close();
  });
});

async function metrics(world: World): Promise<string> {
  const response = await fetch(`${world.server.url}/metrics`, {
    headers: { authorization: `Bearer ${world.token('admin', 'root')}` },
  });
  return response.text();
}
