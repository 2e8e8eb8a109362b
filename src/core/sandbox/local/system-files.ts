import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { groupFile, passwdFile, SANDBOX_HOSTNAME, SANDBOX_ID } from '../inside.ts';

/** The few files of /etc that programs need and that say nothing about the user. */
const ETC = [
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'alternatives',
  'localtime',
  'ssl/certs',
  'ssl/openssl.cnf',
  'pki/tls/certs',
  'pki/ca-trust/extracted',
  'ca-certificates.conf',
  'mime.types',
  'protocols',
  'services',
  'os-release',
  'debian_version',
  'lsb-release',
  'terminfo',
  'magic',
  'java-17-openjdk',
  'java-21-openjdk',
] as const;

/** Files that are written instead of shown: who, where, and that there is no network. */
const SYNTHESISED: Readonly<Record<string, string>> = {
  passwd: passwdFile(SANDBOX_ID),
  group: groupFile(SANDBOX_ID),
  hosts: `127.0.0.1 localhost ${SANDBOX_HOSTNAME}\n::1 localhost ip6-localhost ip6-loopback\n`,
  hostname: `${SANDBOX_HOSTNAME}\n`,
  'nsswitch.conf':
    'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n',
  'resolv.conf': '',
};

/** Writes the synthesised files of /etc into `folder`. */
export async function writeSystemFiles(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(SYNTHESISED)) {
    await writeFile(join(folder, name), text, { mode: 0o644 });
  }
}

/** Mount arguments for the system: /usr, the links or folders beside it, and /etc as listed above. */
export function systemMounts(etc: string): string[] {
  const args = ['--ro-bind', '/usr', '/usr'];
  for (const name of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const info = lstatSync(name, { throwIfNoEntry: false });
    if (info === undefined) continue;
    if (info.isSymbolicLink()) args.push('--symlink', readlinkSync(name), name);
    else args.push('--ro-bind', name, name);
  }
  for (const name of ETC) {
    if (existsSync(`/etc/${name}`)) args.push('--ro-bind', `/etc/${name}`, `/etc/${name}`);
  }
  for (const name of Object.keys(SYNTHESISED)) {
    args.push('--ro-bind', join(etc, name), `/etc/${name}`);
  }
  args.push('--symlink', '/proc/self/mounts', '/etc/mtab');
  return args;
}
