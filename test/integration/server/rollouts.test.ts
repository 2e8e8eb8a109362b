import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { learnableRows } from '../../../server/src/store/learnable.ts';
import { parseTrajectories } from '../../../src/core/trajectories/reader.ts';
import { tempFolder } from '../../support/temp.ts';
import { describeRolloutKills } from './rollout-kills.ts';
import { connected } from './upload-by-hand.ts';
import {
  giveTasks,
  LONG_MS,
  rolloutsOf,
  solvableTask,
  until,
  WORKING,
  withData,
} from './work-world.ts';
import { bundledPrograms, startWorld } from './world.ts';

const programs = bundledPrograms('server', 'worker');
const CONFIG = {
  ...WORKING,
  policy: { use: 'edit-search' },
  rollouts: { groupSize: 3, groupsAhead: 1 },
};

test(
  'groups of attempts by the policy are stored with verified rewards, also when workers are killed',
  async () => {
    const world = await startWorld(CONFIG, { workerFile: programs().worker });
    const admin = await connected(world, world.token('admin', 'root'));
    admin.send({ type: 'control', id: 'c', action: 'pause', reason: 'not yet' });
    expect(await admin.next()).toMatchObject({ type: 'control.done', state: 'paused' });
    await giveTasks(world.data, [solvableTask('first')], 'admitted');
    await sleep(300);
    expect(world.server.status()).toMatchObject({
      work: { state: 'resting', detail: 'paused: not yet', running: 0 },
      rollouts: { groupsOpen: 0 },
    });
    admin.send({ type: 'control', id: 'd', action: 'resume' });
    expect(await admin.next()).toMatchObject({ type: 'control.done', state: 'running' });
    admin.close();

    // While attempts are made, and before the last one is stored.
    await until(
      () => withData(world.data, rolloutsOf),
      (rows) => rows.some(({ state }) => state === 'leased'),
      'an attempt',
    );
    const workers = await workersOf(process.pid);
    expect(workers.length).toBeGreaterThan(0);
    for (const { pid, niceness } of workers) {
      expect(niceness).toBe(CONFIG.work.niceness);
      process.kill(pid, 'SIGKILL');
    }
    const { rollouts, work } = await until(
      () => world.server.status(),
      (now) => now.rollouts.groupsDone === 1 && now.work.running === 0,
      'a group',
    );
    expect(rollouts).toMatchObject({
      policy: 'edit-search',
      groupsOpen: 0,
      attempts: 3,
      invalid: 0,
    });
    expect(work).toMatchObject({ state: 'idle', detail: '1 group waits for a learner' });
    const rows = await withData(world.data, rolloutsOf);
    expect(rows.map(({ group, index, state }) => [group, index, state])).toEqual(
      [0, 1, 2].map((index) => [1, index, 'done']),
    );
    expect(rows.some(({ tries }) => tries > 1)).toBe(true);

    const read = await withData(world.data, (db) => learnableRows(db, 0, 100));
    expect(read).toHaveLength(3);
    for (const { attemptId, group, index, blob, reward, outcome } of read) {
      expect({ attemptId, reward, outcome }).toEqual({
        attemptId: `rollout-${group}-${index}`,
        reward: 1,
        outcome: 'solved',
      });
      const bytes = await readFile(join(world.data, 'blobs', blob.slice(0, 2), blob));
      const [record] = parseTrajectories(gunzipSync(bytes).toString(), blob);
      expect(record).toMatchObject({ header: { attemptId, rules: 'strict' }, end: { reward: 1 } });
    }
    // Only the scheduler's word makes a group: nothing more is begun without a learner.
    await world.server.close();
    expect(await readdir(join(world.data, 'work'))).toEqual([]);
    expect(await readdir(join(world.data, 'incoming'))).toEqual([]);
  },
  LONG_MS,
);

describeRolloutKills(5, programs);

test(
  'a worker whose server is killed before it listens ends as well',
  async () => {
    const settings = {
      ...{ sandbox: { kind: 'auto', setupNetwork: 'default' }, folder: await tempFolder() },
      ...{ testTimeoutMs: 1_000, attemptMs: 1_000, niceness: 0, idle: 1, beatMs: 1_000 },
    };
    const code = `
    const child = require('node:child_process').fork(process.argv[1], [process.argv[2]]);
    require('node:fs').writeSync(1, String(child.pid));
    process.kill(process.pid, 'SIGKILL');`;
    const argv = ['-e', code, programs().worker, JSON.stringify(settings)];
    const { stdout } = spawnSync(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = Number(String(stdout));
    expect(pid).toBeGreaterThan(1);
    await until(
      () => existsSync(`/proc/${pid}`),
      (lives) => !lives,
      'the end of the worker',
    );
  },
  LONG_MS,
);

/** Processes whose parent is another one, with their priority. */
async function workersOf(
  parent: number,
): Promise<readonly { readonly pid: number; readonly niceness: number }[]> {
  const found: { pid: number; niceness: number }[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    // The name, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (Number(fields[1]) !== parent || !command.includes('server-worker')) continue;
    found.push({ pid: Number(name), niceness: Number(fields[16]) });
  }
  return found;
}
