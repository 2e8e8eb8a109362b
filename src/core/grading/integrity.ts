import { posix } from 'node:path';
import { type SandboxSession, WORKSPACE } from '../sandbox/sandbox.ts';

/** More than this many files are looked at in several calls. */
const AT_ONCE = 500;

/** Content hashes by path, of those that exist; taken before and after a run. */
export type Hashes = ReadonlyMap<string, string>;

/**
 * Code under test can rewrite a test file before the runner reads it, and nothing in the report
 * would show it. So the files that hold tests are compared after the run.
 *
 * @param files relative to the workspace
 */
export async function hashFiles(session: SandboxSession, files: readonly string[]): Promise<Hashes> {
  const hashes = new Map<string, string>();
  for (let start = 0; start < files.length; start += AT_ONCE) {
    const paths = files.slice(start, start + AT_ONCE).map((file) => posix.join(WORKSPACE, file));
    const result = await session.run(
      { argv: ['sha256sum', '-z', '--', ...paths], capture: 'stdout' },
      { timeoutMs: 60_000, maxOutputBytes: 8 * 2 ** 20 },
    );
    for (const line of Buffer.from(result.output.head).toString('utf8').split('\0')) {
      const [, hash, path] = /^([0-9a-f]{64})[ *]{2}([\s\S]*)$/.exec(line) ?? [];
      if (hash && path) hashes.set(path, hash);
    }
  }
  return hashes;
}

/** Files whose content is not what it was, relative to the workspace. */
export function changedFiles(before: Hashes, after: Hashes): readonly string[] {
  return [...before]
    .filter(([path, hash]) => after.get(path) !== hash)
    .map(([path]) => posix.relative(WORKSPACE, path));
}
