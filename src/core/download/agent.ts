import { Agent, buildConnector } from 'undici';
import { HELLO_TIMEOUT_MS, SILENCE_MS } from '../protocol/limits.ts';
import {
  checkFingerprint,
  refuseClearText,
  type ServerAddress,
} from '../protocol/server-address.ts';

/** HTTP to one server. A pinned certificate is compared before anything is sent. Throws `ProtocolError`. */
export function createAgent({ url, fingerprint }: ServerAddress): Agent {
  const target = new URL(url);
  refuseClearText(target);
  const connect = buildConnector({
    timeout: HELLO_TIMEOUT_MS,
    // A session that is taken up again may bring no certificate to compare.
    maxCachedSessions: 0,
    rejectUnauthorized: fingerprint === undefined,
  });
  return new Agent({
    // The server may read a large file once before its first byte.
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    connect: (options, callback) =>
      connect(options, (...result) => {
        const [error, socket] = result;
        if (error === null && fingerprint !== undefined) {
          try {
            checkFingerprint(socket, fingerprint, target.host);
          } catch (wrong) {
            socket.destroy();
            callback(wrong instanceof Error ? wrong : new Error(String(wrong)), null);
            return;
          }
        }
        callback(...result);
      }),
  });
}
