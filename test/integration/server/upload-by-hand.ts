import { connect, type LiveConnection } from '../../../src/core/outbox/connection.ts';
import type { ServerMessage } from '../../../src/core/protocol/server-messages.ts';
import type { packed, World } from './world.ts';

export const client = { name: 'test', version: '0.0.0' };

export async function connected(world: World, token = world.token()): Promise<LiveConnection> {
  return connect({ url: world.server.url, token }, client);
}

/** Sends from where the server says, and gives the verdict. */
export async function upload(
  connection: LiveConnection,
  { begin, bytes }: ReturnType<typeof packed>,
): Promise<ServerMessage | undefined> {
  connection.send(begin);
  for (;;) {
    const message = await connection.next();
    if (message?.type === 'upload.ready') {
      await connection.sendChunk({
        upload: begin.upload,
        offset: message.offset,
        bytes: bytes.subarray(message.offset),
      });
    } else if (message?.type !== 'upload.progress') return message;
  }
}
