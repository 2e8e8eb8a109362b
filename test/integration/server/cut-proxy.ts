import type { AddressInfo } from 'node:net';
import { createServer, connect as dial, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * A way to a server on which each connection breaks after so many bytes in one direction, like a network that fails.
 *
 * @param budgets of the connections in their order, of what the server or the client says; the rest have no end
 */
export async function cutProxy(
  url: string,
  direction: 'from-server' | 'from-client',
  budgets: readonly number[],
): Promise<{ readonly url: string; readonly connections: () => number }> {
  const target = new URL(url);
  const open = new Set<Socket>();
  let connections = 0;
  const proxy = createServer((client) => {
    let left = budgets[connections] ?? Number.POSITIVE_INFINITY;
    connections += 1;
    const server = dial(Number(target.port), target.hostname);
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    const [from, to] = direction === 'from-server' ? [server, client] : [client, server];
    to.pipe(from);
    from.on('data', (piece: Buffer) => {
      const some = piece.subarray(0, left);
      left -= some.length;
      if (left > 0) to.write(some);
      // The bytes before the cut still arrive.
      else to.end(some, () => from.destroy());
    });
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    proxy.close();
  });
  const { port } = proxy.address() as AddressInfo;
  return { url: `${target.protocol}//127.0.0.1:${port}`, connections: () => connections };
}
