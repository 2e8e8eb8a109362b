import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type ServerState, serverStateSchema } from '../../../src/core/protocol/values.ts';
import type { Db } from './database.ts';

export interface Meta {
  /** Made once per data folder. */
  readonly serverId: string;
  state(): { readonly state: ServerState; readonly reason: string | undefined };
  setState(state: ServerState, reason?: string): void;
}

export function createMeta(db: Db): Meta {
  const select = db.prepare('SELECT value FROM meta WHERE key = ?');
  const put = db.prepare(
    'INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  );
  const get = (key: string): string | undefined =>
    z.object({ value: z.string() }).optional().parse(select.get(key))?.value;
  const serverId = get('server-id') ?? randomUUID();
  put.run('server-id', serverId);
  return {
    serverId,
    state: () => ({
      state: serverStateSchema.catch('running').parse(get('state')),
      reason: get('state-reason') || undefined,
    }),
    setState(state, reason) {
      put.run('state', state);
      put.run('state-reason', reason ?? '');
    },
  };
}
