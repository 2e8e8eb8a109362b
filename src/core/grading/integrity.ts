import { posix } from 'node:path';
import { type SandboxSession, WORKSPACE } from '../sandbox/sandbox.ts';

/** More than this many files are looked at in several calls. */
const AT_ONCE = 500;
const LIMITS = { timeoutMs: 60_000, maxOutputBytes: 8 * 2 ** 20 } as const;

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
  session: SandboxSession,
  files: readonly string[],
): Promise<FileStates> {
  const states = new Map<string, string>();
  for (let start = 0; start < files.length; start += AT_ONCE) {
    const paths = files.slice(start, start + AT_ONCE).map((file) => posix.join(WORKSPACE, file));
    const list = async (...argv: readonly string[]): Promise<readonly string[]> => {
      const result = await session.run(
        { argv: [...argv, '--', ...paths], capture: 'stdout' },
        LIMITS,
      );
      return Buffer.from(result.output.head).toString('utf8').split('\0');
    };
    for (const line of await list('sha256sum', '-z')) {
      const [, hash, path] = /^([0-9a-f]{64})[ *]{2}([\s\S]*)$/.exec(line) ?? [];
      if (hash && path) states.set(path, hash);
    }
    // Where stat is another one (macOS), content alone has to do.
    for (const line of await list('stat', '--printf=%z %n\\0')) {
      const [, time, path] = /^(\S+ \S+ \S+) ([\s\S]*)$/.exec(line) ?? [];
      const hash = path === undefined ? undefined : states.get(path);
      if (path !== undefined && hash !== undefined) states.set(path, `${hash} ${time}`);
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
