import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ConfigError, type ServerConfig } from '../config.ts';

export interface TlsMaterial {
  readonly certificate: string;
  readonly key: string;
  /** sha256 of the certificate, as clients pin it: hex pairs with colons. */
  readonly fingerprint: string;
}

/** Throws `ConfigError`. */
export function loadTls(tls: ServerConfig['tls'], folder: string): TlsMaterial | undefined {
  if (!tls) return undefined;
  const files =
    'certificate' in tls
      ? tls
      : { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
  if ('selfSigned' in tls && !existsSync(files.certificate)) makeCertificate(files, folder);
  const certificate = readPem(files.certificate, 'certificate');
  const key = readPem(files.key, 'key');
  try {
    const { fingerprint256 } = new X509Certificate(certificate);
    return { certificate, key, fingerprint: fingerprint256 };
  } catch {
    throw new ConfigError(
      `${files.certificate} (tls.certificate) is not a certificate in PEM form`,
    );
  }
}

function readPem(file: string, field: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`tls.${field} cannot be read: ${why}`);
  }
}

/** Clients pin it by its fingerprint, so its names matter little, and it holds for ten years. */
function makeCertificate(files: { certificate: string; key: string }, folder: string): void {
  const fresh = { certificate: join(folder, 'new.pem'), key: files.key };
  const name = /^[A-Za-z0-9.-]{1,60}$/.test(hostname()) ? hostname() : 'prime-agent';
  const made = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', '3650', '-sha256', '-subj', `/CN=${name}`],
      ...['-addext', `subjectAltName=DNS:${name},DNS:localhost,IP:127.0.0.1`],
      ...['-keyout', fresh.key, '-out', fresh.certificate],
    ],
    { encoding: 'utf8' },
  );
  if (made.error || made.status !== 0) {
    const why = made.error?.message ?? made.stderr.trim().split('\n').at(-1) ?? '';
    throw new ConfigError(
      `no certificate could be made with openssl (${why}). Install openssl, or give tls.certificate and tls.key`,
    );
  }
  // The certificate last: where it is, its key is too.
  renameSync(fresh.certificate, files.certificate);
}
