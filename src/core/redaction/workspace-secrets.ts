import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isSecretName, isSecretValue, urlPasswords } from './environment.ts';

/** Larger files are not where people keep passwords. */
const MAX_BYTES = 256 * 1024;
/** A workspace with more candidates than this is a data set. */
const MAX_FILES = 200;

const SECRET_FILE =
  /(?:^|\/)(?:\.env(?:\.[\w.-]+)?|[\w.-]+\.env|\.envrc|\.netrc|_netrc|\.npmrc|\.yarnrc(?:\.yml)?|\.pypirc|\.pgpass|\.git-credentials|\.dockercfg|credentials(?:\.\w+)?|secrets?(?:\.[\w.-]+)?\.(?:json|ya?ml|toml|ini|env)|local\.settings\.json|id_(?:rsa|dsa|ecdsa|ed25519)|[\w.-]+\.(?:pem|key|p8))$/i;

/** Samples are there to be read: `.env.example`. */
const SAMPLE_FILE = /\.(?:example|sample|template|dist|tpl)$|example/i;

/** Code is judged by what is in it: `credentials.ts` is mostly a module. */
const CODE_FILE = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kts?|rb|php|cs|swift|cc?|cpp|hp?p?|sh)$/i;

/** Is it a file in which people keep secrets, by its name? */
export function isSecretFile(path: string): boolean {
  return SECRET_FILE.test(path) && !SAMPLE_FILE.test(path) && !CODE_FILE.test(path);
}

/**
 * Values that files of the workspace name as secrets (`.env`, `.netrc`, key files, the remote URLs
 * in `.git/config`), so that they are found wherever else they turn up, for example when a test
 * prints a password by itself.
 *
 * @param root absolute path of the user's workspace on the host.
 * @param files paths relative to it, with forward slashes. Files right in `root` are looked at in any
 *   case: `.env` is mostly an ignored one.
 */
export async function workspaceSecrets(
  root: string,
  files: readonly string[],
): Promise<readonly string[]> {
  const names = await readdir(root).catch((): string[] => []);
  const candidates = [...new Set([...names, ...files])]
    .filter((file) => SECRET_FILE.test(file) && !SAMPLE_FILE.test(file))
    .slice(0, MAX_FILES);
  const secrets = new Set<string>();
  for (const file of ['.git/config', ...candidates]) {
    const text = await readSmall(join(root, file));
    if (text === undefined) continue;
    for (const value of secretsInConfiguration(text)) secrets.add(value);
  }
  return [...secrets];
}

/** Values with a secret's name in `NAME=value`, `name: value`, JSON; passwords in URLs; key blocks. */
export function secretsInConfiguration(text: string): readonly string[] {
  const values = new Set<string>(urlPasswords(text));
  for (const match of text.matchAll(
    /(?:^|[{,])\s*(?:export\s+)?["']?([A-Za-z_][\w.:/-]*)["']?\s*[=:]\s*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([^\s#,;]+))/gm,
  )) {
    const [, name = '', double, single, bare] = match;
    const value = double ?? single ?? bare ?? '';
    if (isSecretName(name) && isSecretValue(value)) values.add(value.trim());
  }
  for (const match of text.matchAll(
    /\b(?:password|_authToken|_password)[ \t=:]+["']?([^\s"']+)/g,
  )) {
    if (match[1] && isSecretValue(match[1])) values.add(match[1]);
  }
  for (const match of text.matchAll(/:\/\/([A-Za-z0-9_-]{16,})@/g)) {
    if (match[1] && isSecretValue(match[1])) values.add(match[1]);
  }
  for (const match of text.matchAll(/^[^\s:]*:(?:\d+|\*):[^\s:]*:[^\s:]*:(\S+)$/gm)) {
    if (match[1] && isSecretValue(match[1])) values.add(match[1]);
  }
  for (const match of text.matchAll(
    /-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----/g,
  )) {
    values.add(match[0]);
  }
  return [...values];
}

async function readSmall(path: string): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>> | undefined;
  try {
    file = await open(path, 'r');
    const { size } = await file.stat();
    if (size > MAX_BYTES) return undefined;
    return await file.readFile('utf8');
  } catch {
    // Missing, a folder, or not ours to read: then the agent's commands cannot read it either.
    return undefined;
  } finally {
    await file?.close();
  }
}
