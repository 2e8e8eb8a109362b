import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createOutbox } from '../../../src/core/outbox/outbox.ts';
import { tempFolder } from '../../support/temp.ts';
import {
  kill,
  makeToken,
  type Programs,
  permit,
  startServerProcess,
  storedAttempts,
  trajectory,
} from './world.ts';

/** Kills server and client in turn, each time in the middle of something, `kills` times. */
export function describeKills(kills: number, programs: () => Programs): void {
  const records = 40 + 4 * kills;
  test(`${kills} times SIGKILL of the server or the client lose nothing and store nothing twice`, async () => {
    const data = await tempFolder();
    const token = makeToken(data);
    const outboxRoot = await tempFolder();
    const outbox = createOutbox(outboxRoot);
    const ids = Array.from(
      { length: records },
      (_, index) => `kill-${String(index).padStart(4, '0')}`,
    );
    const allowed = await permit();
    for (const id of ids) await outbox.enqueue(trajectory(id, 60_000), allowed);

    let server = await startServerProcess(programs().server, data, 0);
    const port = Number(new URL(server.url).port);
    const acknowledged = new Set<string>();
    const startClient = (): ReturnType<typeof spawn> => {
      const child = spawn(process.execPath, [programs().client, outboxRoot, server.url, token], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child.stdout?.on('data', (text) => {
        for (const id of String(text).split('\n').slice(0, -1)) acknowledged.add(id);
      });
      return child;
    };
    let sender = startClient();
    for (let count = 0; count < kills; count++) {
      // Each kill hits something that is under way: after some more were acknowledged.
      const goal = Math.min(records - 1, acknowledged.size + 2 + Math.floor(Math.random() * 3));
      while (acknowledged.size < goal && sender.exitCode === null) await sleep(1);
      if (count % 2 === 0) {
        await kill(server.child);
        for (const id of acknowledged) expect(storedAttempts(data)).toContain(id);
        server = await startServerProcess(programs().server, data, port);
      } else {
        await kill(sender);
        sender = startClient();
      }
    }
    if (sender.exitCode === null) await once(sender, 'exit');
    expect(sender.exitCode).toBe(0);
    await kill(server.child, 'SIGTERM');
    expect(storedAttempts(data)).toEqual(ids);
    const states = (await outbox.list()).map(({ state }) => state.kind);
    expect(new Set(states)).toEqual(new Set(['sent']));
  }, 600_000);
}
