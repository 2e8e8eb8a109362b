import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { openFolders } from '../../../server/src/folders.ts';
import { learnableRows } from '../../../server/src/store/learnable.ts';
import { addSnapshot } from '../../../server/src/tasks/add.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { packTree } from '../../../src/core/tasks/archive.ts';
import { textTree } from '../../../src/core/tasks/tree.ts';
import type { Trajectory } from '../../../src/core/trajectories/trajectory.ts';
import { connected, upload } from './upload-by-hand.ts';
import {
  attemptAt,
  FAILING_FIX,
  FAILING_TARGET,
  FAILING_TREE,
  giveTasks,
  LONG_MS,
  solvableTask,
  sumPatch,
  until,
  WORKING,
  withData,
} from './work-world.ts';
import { bundledPrograms, packed, startWorld, type World } from './world.ts';

const programs = bundledPrograms('worker');

async function send(world: World, of: string, ...attempts: readonly Trajectory[]): Promise<void> {
  const connection = await connected(world, world.token('contributor', of));
  for (const attempt of attempts) await upload(connection, packed(attempt));
  connection.close();
}

interface Judged {
  readonly attempt_id: string;
  readonly claim: string;
  readonly claim_reason: string | null;
  readonly verified_outcome: string | null;
  readonly verified_reward: number | null;
}

const judged = (world: World): Promise<ReadonlyMap<string, Judged>> =>
  withData(world.data, (db) => {
    const rows = db.prepare('SELECT * FROM trajectories').all() as Judged[];
    return new Map(rows.map((row) => [row.attempt_id, row]));
  });
const learnable = (world: World) => withData(world.data, (db) => learnableRows(db, 0, 100));
const grades = (world: World) =>
  withData(world.data, (db) => db.prepare('SELECT count(*) FROM grades').pluck().get());
const nothingWaits = (world: World): Promise<unknown> =>
  until(
    () => world.server.status(),
    ({ trajectories }) => trajectories.waiting === 0,
    'a verdict on every claim',
  );

test(
  'claims wait without a sandbox; with one they are recomputed, and a forged one changes nothing that a learner reads',
  async () => {
    const made = solvableTask('claims');
    const { task } = made;
    const without = await startWorld(
      { ...WORKING, sandbox: { kind: 'docker' } },
      {
        workerFile: programs().worker,
        env: { ...process.env, DOCKER_HOST: 'unix:///nowhere/docker.sock' },
      },
    );
    const { data } = without;
    await giveTasks(data, [made]);
    await send(without, 'alice', attemptAt(task.id, 'true', { patch: sumPatch(made, '+') }));
    const missing = await until(
      () => without.server.status(),
      ({ sandbox }) => sandbox.state === 'missing',
      'the sandbox to be tried',
    );
    expect(missing.sandbox.detail).toMatch(/No sandbox: .*docker/i);
    expect(missing.work).toMatchObject({ state: 'resting', running: 0 });
    expect(missing.work.detail).toContain('nothing that contributors sent is run');
    const health = await fetch(`${without.server.url}/healthz`);
    expect(await health.json()).toMatchObject({ status: 'ok', sandbox: 'missing' });
    expect(without.lines.join('')).toContain('no sandbox: nothing that contributors sent is run');
    expect((await judged(without)).get('true')).toMatchObject({ claim: 'waiting' });
    await without.server.close();

    const world = await startWorld(WORKING, { workerFile: programs().worker, data });
    // The same files by another patch: less of what is around the change.
    const shorter = sumPatch(made, '+')
      .replace('-1,4 +1,4', '-1,3 +1,3')
      .replace(/^ \}\n/m, '');
    await send(
      world,
      'alice',
      attemptAt(task.id, 'the-same', { patch: shorter }),
      attemptAt(task.id, 'honest-zero', {
        ...{ patch: sumPatch(made, '/'), outcome: 'failed', reward: 0 },
      }),
      attemptAt(task.id, 'out-of-turns', {
        ...{ end: { kind: 'budget', budget: 'turns' }, outcome: 'out_of_budget', reward: 0 },
      }),
    );
    await nothingWaits(world);
    const before = await learnable(world);
    const rewards = before.map(({ attemptId, reward, outcome }) => [attemptId, reward, outcome]);
    expect(rewards.sort()).toEqual([
      ['honest-zero', 0, 'failed'],
      ['out-of-turns', 0, 'out_of_budget'],
      ['the-same', 1, 'solved'],
      ['true', 1, 'solved'],
    ]);
    // Equal files are graded once.
    expect(await grades(world)).toBe(2);

    await send(
      world,
      'mallory',
      attemptAt(task.id, 'forged', { patch: sumPatch(made, '*') }),
      // Solves what its record says nobody handed in.
      attemptAt(task.id, 'not-submitted', {
        ...{ patch: sumPatch(made, '+'), end: { kind: 'budget', budget: 'turns' } },
      }),
      // The tests that the agent sees would pass.
      attemptAt(task.id, 'overfitted', { patch: sumPatch(made, '=== 2 ? a + b : a -') }),
    );
    await nothingWaits(world);
    expect(await learnable(world)).toEqual(before);
    const rows = await judged(world);
    expect(rows.get('forged')).toMatchObject({
      ...{ claim: 'broken', verified_outcome: 'failed', verified_reward: 0 },
      claim_reason: expect.stringMatching(/claims solved .*here it is failed .*adds/),
    });
    expect(rows.get('not-submitted')).toMatchObject({
      claim: 'broken',
      verified_outcome: 'out_of_budget',
    });
    expect(rows.get('overfitted')).toMatchObject({
      claim: 'broken',
      claim_reason: expect.stringContaining('adds much'),
    });

    expect(world.server.status().claims.flagged).toEqual([{ contributor: 'mallory', count: 3 }]);
    const response = await fetch(`${world.server.url}/metrics`, {
      headers: { authorization: `Bearer ${world.token('admin', 'root')}` },
    });
    expect(await response.text()).toContain('prime_agent_claims_broken{contributor="mallory"} 3');
    const list = await command(['token', 'list', '--data', world.data]);
    expect(list).toMatch(/mallory {2}3 rewards claimed that do not hold/);
    expect(list).toMatch(/alice$/m);
    const admin = await connected(world, world.token('admin', 'root'));
    admin.send({ type: 'announcements.follow', id: 'a', after: 0 });
    expect(await admin.next()).toMatchObject({
      announcement: { kind: 'claim', text: expect.stringContaining('claim of mallory') },
    });
    admin.close();
  },
  LONG_MS,
);

test(
  'claims at what an attempt had before it are looked at once that is here; what cannot be has its reason',
  async () => {
    const world = await startWorld(WORKING, { workerFile: programs().worker });
    const target = { framework: 'node:test', targets: [FAILING_TARGET] };
    const made = solvableTask('unsolvable');
    // Its own solution is none.
    const unsolvable = { ...made.task, patch: sumPatch(made, '*') };
    await giveTasks(world.data, [{ ...made, task: unsolvable }]);
    await send(
      world,
      'alice',
      attemptAt(unsolvable.id, 'unsolvable', { patch: sumPatch(made, '+') }),
      attemptAt('her-task', 'fixed', { patch: FAILING_FIX }, target),
      attemptAt('her-task', 'wrong', { patch: FAILING_FIX.replace('n * 2', 'n * 3') }, target),
      attemptAt('her-other-task', 'elsewhere', { patch: FAILING_FIX }, target),
    );
    // Another's of the same name is not hers.
    await send(world, 'bob', attemptAt('her-task', 'not-his', { patch: FAILING_FIX }, target));
    const give = (taskId: string, content: Buffer) =>
      withData(world.data, (db) =>
        addSnapshot({ contributor: 'alice', taskId, content }, { db, ...openFolders(world.data) }),
      );
    expect(await give('her-task', packTree(FAILING_TREE))).toBe(true);
    const outside = new Map([
      ...FAILING_TREE,
      ['there', { mode: '120000' as const, content: Buffer.from('../../..') }],
    ]);
    expect(await give('her-other-task', packTree(outside))).toBe(true);
    // What is stored is final.
    expect(await give('her-task', packTree(textTree({ 'a.txt': 'b' })))).toBe(false);
    await until(
      () => world.server.status(),
      ({ trajectories }) => trajectories.waiting === 1,
      'verdicts',
    );
    const rows = await judged(world);
    expect(rows.get('fixed')).toMatchObject({ claim: 'holds', verified_reward: 1 });
    expect(rows.get('wrong')).toMatchObject({ claim: 'broken', verified_reward: 0 });
    expect(rows.get('not-his')).toMatchObject({ claim: 'waiting' });
    for (const [id, reason] of [
      ['elsewhere', '"there" leads out of the archive'],
      ['unsolvable', 'Its own solution does not solve it'],
    ] as const) {
      expect(rows.get(id)).toMatchObject({
        claim: 'unverifiable',
        claim_reason: expect.stringContaining(reason),
      });
    }
    const { tasks } = world.server.status();
    expect(tasks).toEqual({ new: 0, admitted: 1, refused: 2 });
    await until(
      () => world.server.status().claims.withoutTask,
      (count) => count === 1,
      'the one without a task',
    );
  },
  LONG_MS,
);

async function command(argv: readonly string[]): Promise<string> {
  const stdout = new PassThrough();
  const text: string[] = [];
  stdout.on('data', (piece) => text.push(String(piece)));
  const program = createProgram({
    ...{ stdout, stderr: new PassThrough(), env: process.env, cwd: process.cwd() },
    signal: new AbortController().signal,
  });
  expect(await program.run(argv)).toBe(0);
  return text.join('');
}
