import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createOutbox } from '../../../src/core/outbox/outbox.ts';
import { sendWaiting } from '../../../src/core/outbox/sender.ts';
import { tempFolder } from '../../support/temp.ts';
import { describeKills } from './kills.ts';
import { bundledPrograms, makeToken, permit, startServerProcess, trajectory } from './world.ts';

const client = { name: 'test', version: '0.0.0' };
const programs = bundledPrograms('server', 'client');
describeKills(5, programs);

const strace = spawnSync('strace', ['-e', 'trace=write', 'true']);
const canTrace = strace.status === 0;

describe.skipIf(!canTrace)(
  'with strace (Debian package strace, and a kernel that allows it)',
  () => {
    test('the acknowledgement comes after content, name and entry were synced, in that order', async () => {
      const data = await tempFolder();
      const token = makeToken(data);
      const log = join(await tempFolder(), 'trace');
      const { child, url, pid } = await startServerProcess(programs().server, data, 0, [
        'strace',
        ...['-f', '-y', '-s', '200', '-o', log],
        ...[
          '-e',
          'trace=write,writev,pwrite64,sendto,sendmsg,fsync,fdatasync,rename,renameat,renameat2',
        ],
      ]);
      const outbox = createOutbox(await tempFolder());
      await outbox.enqueue(trajectory('traced', 100_000), await permit());
      expect(await sendWaiting(outbox, { url, token }, { client })).toMatchObject({ sent: 1 });
      // strace itself hears no signal while it traces.
      const traced = once(child, 'exit');
      process.kill(pid, 'SIGTERM');
      await traced;
      const lines = (await readFile(log, 'utf8')).split('\n');
      const [entry] = await outbox.list();
      const blob = entry?.upload ?? '';
      /** First line at or after `from` that fits; the order is that in which the calls were made. */
      const find = (what: RegExp, from = 0): number => {
        const at = lines.findIndex((line, index) => index >= from && what.test(line));
        expect(at, `${what} after line ${from}`).toBeGreaterThanOrEqual(0);
        return at;
      };
      const lastContent = lines.findLastIndex((line) =>
        new RegExp(`p?write(64|v)?\\(.*incoming/[0-9a-f]{16}-${blob}`).test(line),
      );
      expect(lastContent).toBeGreaterThanOrEqual(0);
      const contentSynced = find(
        new RegExp(`fdatasync\\(.*incoming/[0-9a-f]{16}-${blob}`),
        lastContent,
      );
      const renamed = find(new RegExp(`rename.*blobs/${blob.slice(0, 2)}/${blob}"`), contentSynced);
      const nameSynced = find(new RegExp(`fsync\\(.*blobs/${blob.slice(0, 2)}>`), renamed);
      const entryWritten = find(/pwrite64\(.*server\.sqlite-wal>/, nameSynced);
      const entrySynced = find(/f(data)?sync\(.*server\.sqlite-wal>/, entryWritten);
      const acknowledged = find(/upload\.stored/);
      expect(acknowledged).toBeGreaterThan(entrySynced);
    });
  },
);
