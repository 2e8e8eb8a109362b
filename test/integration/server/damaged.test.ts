import { rm, writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openFolders } from '../../../server/src/folders.ts';
import { createBlobStore } from '../../../server/src/store/blobs.ts';
import { createClaims } from '../../../server/src/store/claims.ts';
import { createTaskTable } from '../../../server/src/store/tasks.ts';
import { createClaimSource } from '../../../server/src/work/claim-source.ts';
import { deadlinesOf } from '../../../server/src/work/source.ts';
import { connected, upload } from './upload-by-hand.ts';
import { attemptAt, giveTasks, solvableTask, sumPatch, withData } from './work-world.ts';
import { packed, startWorld } from './world.ts';

test('a record that is gone or damaged on the disk is not verified, and those behind it are', async () => {
  const made = solvableTask('damaged');
  const world = await startWorld();
  await giveTasks(world.data, [made], 'admitted');
  const connection = await connected(world);
  const uploads = ['gone', 'damaged', 'whole'].map((id) =>
    packed(attemptAt(made.task.id, id, { patch: sumPatch(made, '+') })),
  );
  for (const each of uploads) await upload(connection, each);
  connection.close();
  await world.server.close();

  const folders = openFolders(world.data);
  const [blobs, trees] = [createBlobStore(folders.blobs), createBlobStore(folders.trees)];
  const [gone, damaged] = uploads.map(({ begin }) => blobs.pathOf(begin.upload));
  await rm(gone ?? '');
  await writeFile(damaged ?? '', 'no record');
  await withData(world.data, async (db) => {
    const source = createClaimSource({
      ...{ claims: createClaims(db), tasks: createTaskTable(db), blobs, trees },
      deadlines: deadlinesOf({ testTimeoutMs: 1_000, attemptMs: 1_000, setupMs: 0 }),
      log: pino({ level: 'silent' }),
      announce: () => undefined,
    });
    const item = await source.next(() => false);
    expect(item?.job).toMatchObject({ kind: 'grade', patch: sumPatch(made, '+') });
    const rows = db
      .prepare('SELECT attempt_id, claim, claim_reason FROM trajectories ORDER BY seq')
      .raw()
      .all();
    expect(rows).toEqual([
      ['gone', 'unverifiable', 'its content is gone'],
      ['damaged', 'unverifiable', expect.stringMatching(/^its content is damaged: /)],
      ['whole', 'waiting', null],
    ]);
  });
});
