import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { isLoopbackHostname } from '../platform/loopback.ts';
import { ProtocolError } from './errors.ts';

export interface ServerAddress {
  /** https://host:port, or http:// on this machine. */
  readonly url: string;
  readonly token: string;
  /** sha256 of the certificate; without it the system's authorities decide. */
  readonly fingerprint?: string;
}

/** Throws `ProtocolError` where a token would travel in the clear. */
export function refuseClearText({ protocol, hostname, host }: URL): void {
  if (protocol !== 'http:' || isLoopbackHostname(hostname)) return;
  throw new ProtocolError(
    'forbidden',
    `${host} is another machine and its address begins with http:. Use https: tokens are not sent in the clear.`,
  );
}

/** Throws `ProtocolError` where the other side shows a certificate that is not the pinned one. */
export function checkFingerprint(
  socket: Socket | TLSSocket | undefined,
  expected: string,
  host: string,
): void {
  const found =
    socket && 'getPeerCertificate' in socket
      ? socket.getPeerCertificate().fingerprint256
      : undefined;
  const plain = (text: string | undefined): string =>
    (text ?? '').replaceAll(':', '').toLowerCase();
  if (plain(found) === plain(expected) && found) return;
  throw new ProtocolError(
    'unauthorized',
    `${host} shows another certificate (${found ?? 'none'}) than the pinned one. If the server was set up anew, ask its admin for the fingerprint; otherwise somebody is between you and it. Nothing was sent.`,
  );
}
