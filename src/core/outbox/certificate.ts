import { isIP } from 'node:net';
import { connect } from 'node:tls';

export interface ShownCertificate {
  /** sha256, hexadecimal with colons. */
  readonly fingerprint: string;
  /** The system's authorities vouch for it and its name. */
  readonly trusted: boolean;
}

const PATIENCE_MS = 10_000;

/** The certificate that a server shows. Nothing is sent to it. Rejects where nobody answers with TLS. */
export function certificateOf(url: string): Promise<ShownCertificate> {
  const { hostname, port, host } = new URL(url);
  const name = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: name,
      port: port === '' ? 443 : Number(port),
      ...(isIP(name) === 0 && { servername: name }),
      // It is looked at, not trusted.
      rejectUnauthorized: false,
    });
    socket.setTimeout(PATIENCE_MS, () =>
      socket.destroy(new Error(`${host} did not answer within ${PATIENCE_MS / 1000} s`)),
    );
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      const { fingerprint256 } = socket.getPeerCertificate();
      resolve({ fingerprint: fingerprint256, trusted: socket.authorized });
      socket.destroy();
    });
  });
}
