import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gitFailed, inOwnRepository, mustRunGit, runGit } from './git.ts';
import { ALWAYS_IGNORED } from './ignore-rules.ts';
import { joinNul, type RawPath } from './raw-path.ts';

/** Settings of the base's own repository: bytes stay as they are, and nothing is run. */
const CONFIG = `[core]
	repositoryformatversion = 0
	bare = false
	fileMode = true
	symlinks = true
	ignoreCase = false
	precomposeUnicode = false
	logAllRefUpdates = false
	autocrlf = false
	safecrlf = false
	fsmonitor = false
	untrackedCache = false
	hooksPath = /dev/null
	attributesFile = /dev/null
	excludesFile = /dev/null
	trustctime = false
	checkStat = minimal
	protectHFS = false
	protectNTFS = false
[gc]
	auto = 0
[maintenance]
	auto = false
[commit]
	gpgSign = false
[user]
	name = Prime Agent
	email = agent@localhost
`;

/**
 * Stronger than every .gitattributes. `working-tree-encoding` is unspecified and not unset, because
 * git dies of `-working-tree-encoding`.
 */
export const KEEP_BYTES = '* -text !eol -crlf -filter -ident !working-tree-encoding\n';

export interface CommitRequest {
  readonly tree: string;
  readonly parent:
    | undefined
    | {
        readonly tree: string;
        /** Everything that differs from the parent, gone files included. */
        readonly changed: readonly RawPath[];
      };
  readonly signal: AbortSignal | undefined;
}

/** Makes `tree/.git`: one commit, one pack, an index that fits the files. Deterministic. */
export async function commitTree(request: CommitRequest): Promise<void> {
  const { tree, parent, signal } = request;
  const gitDir = join(tree, '.git');
  for (const folder of [
    '',
    'info',
    'objects',
    'objects/info',
    'objects/pack',
    'refs',
    'refs/heads',
  ]) {
    await mkdir(join(gitDir, folder), { mode: 0o755 });
  }
  await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n');
  await writeFile(join(gitDir, 'config'), CONFIG);
  await writeFile(join(gitDir, 'info/attributes'), KEEP_BYTES);
  await writeFile(join(gitDir, 'info/exclude'), `${ALWAYS_IGNORED.join('\n')}\n`);

  const alternates = join(gitDir, 'objects/info/alternates');
  const git = (...args: string[]) => ({
    ...inOwnRepository(gitDir, tree, ['-c', 'core.compression=1', ...args]),
    signal,
  });
  if (parent) {
    await writeFile(alternates, `${join(parent.tree, '.git/objects')}\n`);
    await copyFile(join(parent.tree, '.git/index'), join(gitDir, 'index'));
    // Forgotten first: with the same size and the same second git would take them for unchanged.
    await mustRunGit({
      ...git('update-index', '--force-remove', '-z', '--stdin'),
      stdin: joinNul(parent.changed),
    });
  }
  // Above its "big file" size git writes blobs straight into one pack, ten times as fast as loose ones.
  const add = git(
    '-c',
    'core.bigFileThreshold=1',
    'add',
    '--all',
    '--force',
    '--ignore-errors',
    '.',
  );
  const added = await runGit(add);
  // 1: some name that git refuses on principle (a link called .gitmodules); the file stays untracked.
  if (added.code !== 0 && added.code !== 1) throw gitFailed(add, added);
  const written = (await mustRunGit(git('write-tree'))).toString().trim();
  const commit = await mustRunGit(git('commit-tree', written, '-m', 'The working tree as it was'));
  await writeFile(join(gitDir, 'refs/heads/main'), commit);
  // Takes only what the commit reaches: nothing of an earlier state of the tree is left to find.
  await mustRunGit(
    git(
      ...['-c', 'pack.writeReverseIndex=false', '-c', 'repack.writeBitmaps=false'],
      ...['-c', 'repack.updateServerInfo=false', 'repack', '-a', '-d', '-q', '--window=0'],
    ),
  );
  await rm(alternates, { force: true });
}
