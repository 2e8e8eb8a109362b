import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A folder of certificates, as DOCKER_CERT_PATH names it: ca.pem, cert.pem, key.pem. */
export interface Authority {
  /** Certificate by which others know what it signed. */
  readonly ca: string;
  /**
   * Makes a folder with a certificate of this authority.
   *
   * @param days of validity; negative: expired
   */
  issue(
    name: string,
    options?: {
      readonly for?: 'client' | 'server';
      readonly names?: string;
      readonly days?: number;
    },
  ): string;
}

const openssl = (...args: readonly string[]): void => {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
};

/** A certificate authority of its own, in `folder`. Needs the program openssl. */
export function createAuthority(folder: string, name: string): Authority {
  const root = join(folder, name);
  mkdirSync(root, { recursive: true });
  const [ca, caKey] = [join(root, 'ca.pem'), join(root, 'ca-key.pem')];
  openssl(
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-subj', `/CN=${name}`, '-keyout', caKey, '-out', ca, '-days', '2'],
  );
  return {
    ca,
    issue: (label, options = {}) => {
      const { for: use = 'client', names, days = 2 } = options;
      const place = join(root, label);
      mkdirSync(place);
      const [cert, key, request] = ['cert.pem', 'key.pem', 'request.pem'].map((file) =>
        join(place, file),
      ) as [string, string, string];
      openssl(
        ...['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
        ...['-subj', `/CN=${label}`, '-keyout', key, '-out', request],
      );
      const extensions = join(place, 'extensions');
      writeFileSync(
        extensions,
        `extendedKeyUsage=${use}Auth\n${names === undefined ? '' : `subjectAltName=${names}\n`}`,
      );
      openssl(
        ...['x509', '-req', '-in', request, '-CA', ca, '-CAkey', caKey, '-CAcreateserial'],
        ...['-out', cert, '-days', String(days), '-extfile', extensions],
      );
      execFileSync('cp', [ca, join(place, 'ca.pem')]);
      return place;
    },
  };
}
