import { Buffer } from 'node:buffer';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KEEP_BYTES } from './commit.ts';
import { type GitRequest, inOwnRepository, mustRunGit } from './git.ts';
import type { RawPath } from './raw-path.ts';

/** A file as git knows it. */
export interface Blob {
  readonly mode: '100644' | '100755' | '120000';
  /** Of a link: where it leads. */
  readonly content: Buffer;
}

/** A throw-away repository on the host in which files are compared and patched without any working tree. */
export interface BlobRepository {
  readonly gitDir: string;
  readonly folder: string;
  git(args: readonly string[], stdin?: Uint8Array): GitRequest;
  /** Hashes, in order. */
  store(contents: readonly Buffer[]): Promise<string[]>;
  /** undefined: no such file. */
  updateIndex(
    changes: ReadonlyMap<RawPath, { mode: string; hash: string } | undefined>,
  ): Promise<void>;
  readBlobs(hashes: readonly string[]): Promise<Map<string, Buffer>>;
}

/** @param objects folder of objects to read besides its own */
export async function withBlobRepository<Result>(
  objects: string | undefined,
  signal: AbortSignal | undefined,
  use: (repository: BlobRepository) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'prime-patch-'));
  try {
    const gitDir = join(folder, 'git');
    for (const name of ['', 'info', 'objects', 'objects/info', 'refs', 'refs/heads']) {
      await mkdir(join(gitDir, name));
    }
    await mkdir(join(folder, 'blobs'));
    await mkdir(join(folder, 'empty'));
    await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n');
    await writeFile(join(gitDir, 'config'), CONFIG);
    await writeFile(join(gitDir, 'info/attributes'), `${KEEP_BYTES}* !diff !merge !whitespace\n`);
    if (objects) await writeFile(join(gitDir, 'objects/info/alternates'), `${objects}\n`);
    return await use(repositoryAt(folder, gitDir, signal));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const CONFIG = `[core]
	repositoryformatversion = 0
	bare = false
	fileMode = true
	ignoreCase = false
	protectHFS = false
	protectNTFS = false
	autocrlf = false
	looseCompression = 1
`;

function repositoryAt(
  folder: string,
  gitDir: string,
  signal: AbortSignal | undefined,
): BlobRepository {
  const git = (args: readonly string[], stdin?: Uint8Array): GitRequest => ({
    ...inOwnRepository(gitDir, join(folder, 'empty'), args),
    ...(stdin ? { stdin } : {}),
    ...(signal ? { signal } : {}),
  });
  let written = 0;
  return {
    gitDir,
    folder,
    git,
    async store(contents) {
      if (contents.length === 0) return [];
      const names: string[] = [];
      for (const content of contents) {
        const name = join(folder, 'blobs', String(written++));
        await writeFile(name, content);
        names.push(name);
      }
      const hashes = await mustRunGit(
        git(
          ['hash-object', '-w', '--no-filters', '--stdin-paths'],
          Buffer.from(`${names.join('\n')}\n`),
        ),
      );
      return hashes.toString('latin1').trim().split('\n');
    },
    async updateIndex(changes) {
      // What goes comes first: a folder may take the place of a file.
      const lines = [...changes].sort(
        (a, b) => Number(a[1] !== undefined) - Number(b[1] !== undefined),
      );
      const input = lines
        .map(([path, file]) =>
          file ? `${file.mode} ${file.hash}\t${path}\0` : `0 ${'0'.repeat(40)}\t${path}\0`,
        )
        .join('');
      await mustRunGit(git(['update-index', '-z', '--index-info'], Buffer.from(input, 'latin1')));
    },
    async readBlobs(hashes) {
      const blobs = new Map<string, Buffer>();
      if (hashes.length === 0) return blobs;
      const output = await mustRunGit(
        git(['cat-file', '--batch'], Buffer.from(`${hashes.join('\n')}\n`)),
      );
      for (let at = 0; at < output.length; ) {
        const end = output.indexOf(10, at);
        const [hash = '', , size = ''] = output.subarray(at, end).toString('latin1').split(' ');
        const start = end + 1;
        blobs.set(hash, output.subarray(start, start + Number(size)));
        at = start + Number(size) + 1;
      }
      return blobs;
    },
  };
}
