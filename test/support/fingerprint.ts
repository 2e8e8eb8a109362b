import { createHash } from 'node:crypto';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Path → what it is, byte for byte. @param leftOut a folder at the top that may change */
export async function fingerprint(root: string, leftOut = ''): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(root, path);
    if (leftOut !== '' && name.startsWith(`${leftOut}/`)) continue;
    if (entry.isSymbolicLink()) found[name] = `-> ${await readlink(path)}`;
    else if (entry.isFile())
      found[name] = createHash('sha256')
        .update(await readFile(path))
        .digest('hex');
    else found[name] = 'folder';
  }
  return found;
}
