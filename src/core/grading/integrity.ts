import { posix } from 'node:path';
import { SandboxFailure, type SandboxSession, WORKSPACE } from '../sandbox/sandbox.ts';

/** More than this many files are looked at in several calls. */
const AT_ONCE = 500;
const LIMITS = { timeoutMs: 60_000, maxOutputBytes: 8 * 2 ** 20 } as const;

/** The system's programs come first: code under test may write into a tool chain's folder on PATH. */
const SYSTEM = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

/** What a file is, by path, of those that exist; taken before and after a run. */
export type FileStates = ReadonlyMap<string, string>;

/**
 * Code under test can rewrite a test file before the runner reads it, and put it back before the run
 * ends; nothing in the report would show it. So the files that hold tests are compared after the
 * run: their content, and the time of their last change (ctime), which no program can set.
 *
 * @param files relative to the workspace
 */
export async function fileStates(
  session: Pick<SandboxSession, 'run'>,
  files: readonly string[],
): Promise<FileStates> {
  const states = new Map<string, string>();
  const add = (path: string, state: string): void => {
    states.set(path, `${states.get(path) ?? ''} ${state}`);
  };
  const named = files.filter((file) => file !== '');
  for (let start = 0; start < named.length; start += AT_ONCE) {
    const paths = named.slice(start, start + AT_ONCE).map((file) => posix.join(WORKSPACE, file));
    /** undefined: there is no such program. */
    const list = async (...argv: readonly string[]): Promise<readonly string[] | undefined> => {
      for (const env of [SYSTEM, {}]) {
        const request = { argv: [...argv, '--', ...paths], env, capture: 'stdout' } as const;
        const { end, output } = await session.run(request, LIMITS);
        if (end.kind === 'exited' && (end.code === 126 || end.code === 127)) continue;
        return Buffer.from(output.head)
          .toString('utf8')
          .split(argv[0] === 'cksum' ? '\n' : '\0');
      }
      return undefined;
    };
    const hashes = await list('sha256sum', '-z');
    for (const line of hashes ?? []) {
      const [, hash, path] = /^([0-9a-f]{64})[ *]{2}([\s\S]+)$/.exec(line) ?? [];
      if (hash && path) add(path, hash);
    }
    // Where stat is another one (macOS), content alone has to do.
    let timed = false;
    for (const line of (await list('stat', '--printf=%A %z %n\\0')) ?? []) {
      // Files and links; what is written into a folder changes its time.
      const [, time, path] = /^[-l]\S* (\S+ \S+ \S+) ([\s\S]+)$/.exec(line) ?? [];
      if (!time || !path) continue;
      add(path, time);
      timed = true;
    }
    if (hashes !== undefined || timed) continue;
    const sums = await list('cksum');
    if (sums === undefined) {
      throw new SandboxFailure(
        'Test files cannot be compared before and after a run: there is no sha256sum, stat or cksum.',
        'Use an image with GNU coreutils.',
      );
    }
    for (const line of sums) {
      const [, sum, path] = /^(\d+ \d+) (.+)$/.exec(line) ?? [];
      if (sum && path) add(path, sum);
    }
  }
  return states;
}

/** Files that are not what they were, relative to the workspace. */
export function changedFiles(before: FileStates, after: FileStates): readonly string[] {
  return [...before]
    .filter(([path, state]) => after.get(path) !== state)
    .map(([path]) => posix.relative(WORKSPACE, path));
}
