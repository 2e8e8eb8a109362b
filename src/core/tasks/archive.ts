import { promisify } from 'node:util';
import { gunzipSync, gzip, gzipSync } from 'node:zlib';
import { readTar, writeTar } from '../snapshot/tar.ts';
import type { FileTree } from './tree.ts';

/** Unpacked, an archive has no more bytes than this. */
const MOST_BYTES = 512 * 1024 ** 2;

const zip = promisify(gzip);

/** A tree as `tar.gz`; the same tree gives the same bytes. */
export function packTree(tree: FileTree): Buffer {
  return gzipSync(tarOf(tree), { level: 9 });
}

/** The same, packed on another thread: for an editor, which has other things to do meanwhile. */
export function packTreeInBackground(tree: FileTree): Promise<Buffer> {
  return zip(tarOf(tree), { level: 9 });
}

function tarOf(tree: FileTree): Buffer {
  const entries = [...tree]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, { mode, content }]) => ({
      path: Buffer.from(path).toString('latin1'),
      kind: mode === '120000' ? ('link' as const) : ('file' as const),
      mode: mode === '100755' ? 0o755 : 0o644,
      content,
    }));
  return writeTar(entries, 0);
}

/**
 * The files and links of a `tar.gz`, in memory. Throws on what is no whole archive or too large. Its
 * names and links are not looked at: ask `writesOutside` and `leadsOutside` before anything is written.
 */
export function unpackTree(bytes: Buffer, mostBytes = MOST_BYTES): FileTree {
  const entries = readTar(gunzipSync(bytes, { maxOutputLength: mostBytes }));
  const other = entries.find(({ kind }) => kind === 'other');
  if (other) throw new Error(`${JSON.stringify(other.path)} is neither a file nor a link`);
  return new Map(
    entries
      .filter(({ kind }) => kind !== 'folder')
      .map(({ path, kind, mode, content }) => [
        Buffer.from(path, 'latin1').toString('utf8'),
        { mode: kind === 'link' ? '120000' : mode & 0o100 ? '100755' : '100644', content },
      ]),
  );
}
