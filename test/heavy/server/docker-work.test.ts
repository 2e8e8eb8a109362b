import { afterAll, expect, test } from 'vitest';
import { learnableRows } from '../../../server/src/store/learnable.ts';
import { connected, upload } from '../../integration/server/upload-by-hand.ts';
import {
  attemptAt,
  giveTasks,
  LONG_MS,
  rolloutsOf,
  solvableTask,
  sumPatch,
  until,
  WORKING,
  withData,
} from '../../integration/server/work-world.ts';
import { bundledPrograms, packed, startWorld } from '../../integration/server/world.ts';
import { startTestEngine, TEST_IMAGE } from '../../support/docker-engine.ts';

const started = await startTestEngine();

if (started.kind === 'none') {
  test('a server works in containers of a real engine', ({ skip }) => {
    skip(`not run, because no engine can be started: ${started.reason}`);
  });
} else {
  const { engine } = started;
  afterAll(() => engine.remove());
  const programs = bundledPrograms('worker');
  const now = (): string => String(Math.floor(Date.now() / 1_000));
  /** Containers that were made since then, and what they were made of. */
  const containers = (since: string): readonly string[] =>
    engine
      .docker(
        ...['events', '--since', since, '--until', now(), '--filter', 'type=container'],
        ...['--filter', 'event=create', '--format', '{{.Actor.ID}} {{.Actor.Attributes.image}}'],
      )
      .trim()
      .split('\n')
      .filter(Boolean);

  test(
    'a server with kind = "docker" judges claims, tries tasks and makes rollouts in containers',
    async () => {
      const world = await startWorld(
        {
          ...WORKING,
          sandbox: { kind: 'docker', image: TEST_IMAGE, setupNetwork: 'none' },
          policy: { use: 'edit-search' },
          rollouts: { groupSize: 2, groupsAhead: 1 },
        },
        { workerFile: programs().worker, env: { ...process.env, ...engine.variables } },
      );
      const sandbox = await until(
        () => world.server.status().sandbox,
        ({ state }) => state !== 'unknown',
        'a sandbox',
      );
      expect(sandbox).toMatchObject({ state: 'working', detail: expect.stringMatching(/docker/i) });

      // New: nobody has tried it yet, so that it is admitted here, too.
      const made = solvableTask('in containers');
      const began = now();
      await giveTasks(world.data, [made]);
      const rollouts = await until(
        () => world.server.status().rollouts,
        ({ groupsDone }) => groupsDone === 1,
        'a group',
      );
      expect(rollouts).toMatchObject({ attempts: 2, invalid: 0 });
      const forRollouts = containers(began);
      // Two runs of each view to admit it, then two attempts, each graded in fresh ones.
      expect(forRollouts.length).toBeGreaterThanOrEqual(6);
      const rows = await withData(world.data, rolloutsOf);
      expect(rows.map(({ index, state }) => [index, state])).toEqual([
        [0, 'done'],
        [1, 'done'],
      ]);

      const sent = now();
      const connection = await connected(world, world.token('contributor', 'alice'));
      await upload(
        connection,
        packed(
          attemptAt(made.task.id, 'honest', {
            patch: sumPatch(made, '/'),
            outcome: 'failed',
            reward: 0,
          }),
        ),
      );
      await upload(
        connection,
        packed(attemptAt(made.task.id, 'forged', { patch: sumPatch(made, '*') })),
      );
      connection.close();
      await until(
        () => world.server.status(),
        ({ trajectories }) => trajectories.waiting === 0,
        'a verdict on every claim',
      );
      expect(containers(sent).length).toBeGreaterThanOrEqual(2);
      const claims = await withData(world.data, (db) =>
        db
          .prepare(
            "SELECT attempt_id, claim, verified_reward FROM trajectories WHERE contributor = 'alice' ORDER BY 1",
          )
          .raw()
          .all(),
      );
      expect(claims).toEqual([
        ['forged', 'broken', 0],
        ['honest', 'holds', 0],
      ]);
      const learnable = await withData(world.data, (db) => learnableRows(db, 0, 100));
      const seen = learnable.map(({ attemptId, reward }) => [attemptId, reward]);
      expect(seen.sort()).toEqual([
        ['honest', 0],
        ['rollout-1-0', 1],
        ['rollout-1-1', 1],
      ]);

      await world.server.close();
      expect(engine.docker('ps', '-aq')).toBe('');
      expect(engine.docker('volume', 'ls', '-q')).toBe('');
    },
    2 * LONG_MS,
  );
}
