import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { escapeGlob } from '../platform/escape-glob.ts';
import type { SandboxSession } from '../sandbox/sandbox.ts';
import { SnapshotError } from './errors.ts';
import { joinNul, type RawPath } from './raw-path.ts';
import { readTar, type TarEntry, writeTar } from './tar.ts';

/** One file, link or folder of a session's workspace. */
export interface SessionEntry {
  readonly path: RawPath;
  /** `f` file, `l` link, `d` folder, otherwise a socket, pipe or device. */
  readonly type: string;
  readonly mode: number;
  readonly size: number;
  /** Nanoseconds. */
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  /** Of a link: where it leads. */
  readonly target: string;
}

const TIMEOUT_MS = 300_000;
const MOST_OUTPUT = 512 * 2 ** 20;
const unzip = promisify(gunzip);

/**
 * What the script prints, byte for byte. Packed and in base64, because a session without a sandbox
 * maps paths in output; gzip's check sum shows whether something else printed in between.
 */
async function runForBytes(
  session: SandboxSession,
  script: string,
  args: readonly string[],
  stdin: Uint8Array | undefined,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  const result = await session.run(
    {
      argv: ['bash', '-c', `{ ${script}\n} 2>/dev/null | gzip -1 | base64`, 'bash', ...args],
      env: { LC_ALL: 'C' },
      capture: 'stdout',
      ...(stdin ? { stdin } : {}),
    },
    { timeoutMs: TIMEOUT_MS, maxOutputBytes: MOST_OUTPUT, ...(signal ? { signal } : {}) },
  );
  signal?.throwIfAborted();
  if (result.end.kind !== 'exited') {
    throw new SnapshotError(
      'git-failed',
      `Reading the files of the sandbox took longer than ${TIMEOUT_MS / 1000} s.`,
      'Look for very many or very large files that the attempt made.',
    );
  }
  if (result.output.omittedBytes > 0) {
    throw new SnapshotError(
      'too-large',
      'There are too many files in the sandbox to compare them.',
      'Look for very many or very large files that the attempt made.',
    );
  }
  const packed = Buffer.from(Buffer.from(result.output.head).toString('latin1'), 'base64');
  try {
    return await unzip(packed);
  } catch {
    throw new SnapshotError(
      'git-failed',
      'The files of the sandbox could not be read: its answer was damaged.',
      'The sandbox needs bash, gzip, base64, tar and GNU find; check that its image has them.',
    );
  }
}

/** Everything in the workspace of a session except `.git` and the given folders. */
export async function listSession(
  session: SandboxSession,
  without: readonly string[],
  signal?: AbortSignal,
): Promise<SessionEntry[]> {
  const prune = without.flatMap((path) => ['-o', '-path', `./${escapeGlob(path)}`]);
  // The last line tells a whole answer from the end of a find that could not go on.
  const output = await runForBytes(
    session,
    `find . -mindepth 1 '(' -iname .git "$@" ')' -prune -o -printf '%y\\0%m\\0%s\\0%T@\\0%C@\\0%P\\0%l\\0'; printf 'end\\0'`,
    prune,
    undefined,
    signal,
  );
  const fields = output.toString('latin1').split('\0');
  const entries: SessionEntry[] = [];
  let at = 0;
  for (; at + 7 < fields.length; at += 7) {
    const [type = '', mode = '', size = '', mtime = '', ctime = '', path = '', target = ''] =
      fields.slice(at, at + 7);
    entries.push({
      path,
      type,
      mode: Number.parseInt(mode, 8),
      size: Number(size),
      mtimeNs: nanoseconds(mtime),
      ctimeNs: nanoseconds(ctime),
      target,
    });
  }
  if (fields[at] !== 'end') {
    throw new SnapshotError(
      'git-failed',
      'The files of the sandbox could not be listed.',
      'The sandbox needs GNU find; check that its image has it.',
    );
  }
  return entries;
}

/** Files, links and folders of a session's workspace; those that are missing or unreadable are left out. */
export async function readSessionFiles(
  session: SandboxSession,
  paths: readonly RawPath[],
  signal?: AbortSignal,
): Promise<Map<RawPath, TarEntry>> {
  if (paths.length === 0) return new Map();
  const archive = await runForBytes(
    session,
    'tar --null --no-recursion -cf - -T -',
    [],
    joinNul(paths.map((path) => `./${path}`)),
    signal,
  );
  if (archive.length === 0) return new Map();
  return new Map(readTar(archive).map((entry) => [entry.path, entry]));
}

/** Removes and writes files of a session's workspace. @returns undefined, or why it did not work. */
export async function writeSessionFiles(
  session: SandboxSession,
  removed: readonly RawPath[],
  written: readonly TarEntry[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  const options = { timeoutMs: TIMEOUT_MS, maxOutputBytes: 8192, ...(signal ? { signal } : {}) };
  const step = async (script: string, stdin: Buffer): Promise<string | undefined> => {
    const argv = ['bash', '-c', `set -o pipefail; ${script}`];
    const result = await session.run({ argv, stdin, env: { LC_ALL: 'C' } }, options);
    signal?.throwIfAborted();
    if (result.end.kind === 'exited' && result.end.code === 0) return undefined;
    const said = Buffer.from(result.output.head).toString('utf8').trim();
    return said === '' ? `it ended with ${JSON.stringify(result.end)}` : said;
  };
  if (removed.length > 0) {
    const names = joinNul(removed.map((path) => `./${path}`));
    const failed = await step('xargs -0 rm -f --', names);
    if (failed !== undefined) return failed;
    const parents = new Set<RawPath>();
    for (const path of removed) {
      const slash = path.lastIndexOf('/');
      if (slash > 0) parents.add(path.slice(0, slash));
    }
    // As git does: a folder without files is not there.
    if (parents.size > 0) {
      const command = `xargs -0 sh -c 'rmdir -p -- "$@" 2>/dev/null; :' sh`;
      await step(command, joinNul([...parents].map((path) => `./${path}`)));
    }
  }
  if (written.length === 0) return undefined;
  return step('tar -xpf - --no-same-owner', writeTar(written, Date.now() / 1000));
}

/** `1764609839.1234567890` */
function nanoseconds(text: string): bigint {
  const [seconds = '0', fraction = ''] = text.split('.');
  return BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9));
}
