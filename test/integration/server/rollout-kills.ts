import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { learnableRows } from '../../../server/src/store/learnable.ts';
import { SERVER_CONTRIBUTOR } from '../../../server/src/store/rollouts.ts';
import { tempFolder } from '../../support/temp.ts';
import { giveTasks, rolloutsOf, solvableTask, until, WORKING, withData } from './work-world.ts';
import { kill, type Programs, startServerProcess } from './world.ts';

/** Kills the server at moments of its rollouts; its workers have to end by themselves. */
export function describeRolloutKills(kills: number, programs: () => Programs): void {
  const groups = 1 + Math.floor(kills / 10);
  test(`after ${kills} times SIGKILL of the server rollouts go on, each exactly once`, async () => {
    const data = await tempFolder();
    const config = {
      ...WORKING,
      policy: { use: 'edit-search' },
      rollouts: { groupSize: 3, groupsAhead: groups },
      log: { level: 'error' },
    };
    const tasks = Array.from({ length: groups }, (_, at) => solvableTask(`task ${at}`));
    await giveTasks(data, tasks, 'admitted');
    const rows = () => withData(data, rolloutsOf);
    const done = async (): Promise<number> =>
      (await rows()).filter(({ state }) => state === 'done').length;
    const start = () => startServerProcess(programs().server, data, 0, [], config);

    let server = await start();
    for (let count = 0; count < kills; count++) {
      const before = await done();
      // Before anything, while an attempt is made, and around the moment when one is stored.
      const moment = Math.random();
      const goal = (left: number) => (left > 0 ? before + 1 : before);
      const all = (await rows()).length;
      if (moment < 0.3) await sleep(Math.random() * 500);
      else if (moment < 0.7) {
        await until(rows, (now) => now.some(({ state }) => state !== 'open'), 'an attempt');
        await sleep(Math.random() * 1_000);
      } else await until(done, (now) => now >= goal(all - before), 'one more');
      await kill(server.child);
      server = await start();
    }
    const wanted = 3 * groups;
    await until(done, (now) => now === wanted, `all ${wanted} attempts`);
    await kill(server.child, 'SIGTERM');

    const ended = await rows();
    expect(ended).toHaveLength(wanted);
    expect(new Set(ended.map(({ trajectory }) => trajectory)).size).toBe(wanted);
    const ids = ended.map(({ group, index }) => `rollout-${group}-${index}`);
    const stored = await withData(data, (db) =>
      db
        .prepare('SELECT attempt_id FROM trajectories WHERE contributor = ?')
        .pluck()
        .all(SERVER_CONTRIBUTOR),
    );
    expect([...stored].sort()).toEqual([...ids].sort());
    const read = await withData(data, (db) => learnableRows(db, 0, 10_000));
    expect(read.map(({ attemptId }) => attemptId).sort()).toEqual([...ids].sort());
    expect(await readdir(join(data, 'work'))).toEqual([]);
  }, 3_600_000);
}
