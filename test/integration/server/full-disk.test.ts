import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkConfig } from '../../../server/src/config.ts';
import { openFolders } from '../../../server/src/folders.ts';
import { serve } from '../../../server/src/serve.ts';
import { openDatabase } from '../../../server/src/store/database.ts';
import { connect } from '../../../src/core/outbox/connection.ts';
import { suiteFolder } from '../../support/temp.ts';
import { makeToken, packed, storedAttempts, trajectory } from './world.ts';

const client = { name: 'test', version: '0.0.0' };

/** Only root may mount, and not in every container. */
function canMount(): boolean {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') return false;
  const probe = 'mkdir -p /tmp/probe && mount -t tmpfs -o size=1m none /tmp/probe';
  return spawnSync('unshare', ['-m', 'sh', '-c', probe]).status === 0;
}

describe.skipIf(!canMount())('with a disk of 16 MB (needs root and the right to mount)', () => {
  const folder = suiteFolder();
  beforeAll(() => {
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'none', folder()]).status).toBe(0);
  });
  afterAll(() => {
    spawnSync('umount', ['-l', folder()]);
  });

  test('that runs full, uploads are told so, nothing acknowledged is lost, and the server goes on when there is room', async () => {
    const data = join(folder(), 'data');
    await mkdir(data);
    const lines: string[] = [];
    const server = await serve({
      // Points of the series are written all the while: they must not end the server either.
      config: checkConfig({ listen: { port: 0 }, timing: { seriesMs: 100 } }, 'test'),
      data,
      version: '0.0.0',
      write: (line) => lines.push(line),
    });
    const token = makeToken(data);
    const connection = await connect({ url: server.url, token }, client);
    const acknowledged: string[] = [];
    const send = async (id: string): Promise<string> => {
      const { begin, bytes } = packed(trajectory(id, 300_000));
      connection.send(begin);
      for (;;) {
        const message = await connection.next();
        if (message?.type === 'upload.ready') {
          const { offset } = message;
          const { upload } = begin;
          await connection.sendChunk({ upload, offset, bytes: bytes.subarray(offset) });
        } else if (message?.type === 'upload.refused') return message.error.code;
        else if (message?.type === 'upload.stored') {
          acknowledged.push(id);
          return 'stored';
        } else if (message?.type !== 'upload.progress') return String(message?.type);
      }
    };
    expect(await send('first')).toBe('stored');
    const { bavail, bsize } = await statfs(folder());
    await writeFile(join(folder(), 'filler'), Buffer.alloc(bavail * bsize - 1_500_000));
    const verdicts: string[] = [];
    for (let count = 0; count < 12; count++) verdicts.push(await send(`full-${count}`));
    expect(verdicts).toContain('disk_full');
    expect(new Set(verdicts)).toEqual(new Set(['stored', 'disk_full']));
    await sleep(300);
    const intact = (): void => {
      const { blobs, database } = openFolders(data);
      const db = openDatabase(database);
      const rows = db
        .prepare('SELECT attempt_id, blob FROM trajectories')
        .raw()
        .all() as string[][];
      expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
      db.close();
      const stored = new Map(rows.map(([id = '', blob = '']) => [id, blob]));
      for (const id of acknowledged) {
        const blob = stored.get(id) ?? '';
        expect(existsSync(join(blobs, blob.slice(0, 2), blob)), id).toBe(true);
      }
    };
    // Full to the last byte: nothing of what was acknowledged is touched.
    await writeFile(join(folder(), 'more'), Buffer.alloc(16_000_000)).catch(() => undefined);
    expect(await send('full-to-the-last-byte')).toBe('disk_full');
    const health = await fetch(`${server.url}/healthz`);
    expect(health.status).toBe(200);
    for (const file of ['filler', 'more']) await rm(join(folder(), file), { force: true });
    intact();
    // On the same connection, without a restart.
    for (const id of ['full-11', 'full-to-the-last-byte']) expect(await send(id)).toBe('stored');
    connection.close();
    await server.close();
    intact();
    expect(storedAttempts(data)).toEqual([...acknowledged].sort());
  });
});
