import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../../src/core/platform/sync-folder.ts';
import {
  type PolicyFile,
  policyFileNameSchema,
} from '../../../src/core/protocol/policy-manifest.ts';

const BLOCK = 1024 * 1024;

/**
 * Copies every file of a folder, and says what they are. When this resolves, all of it has reached the disk. Rejects
 * where a name is none that a manifest may hold, or an entry is neither a file nor a folder.
 *
 * @param to a folder that is there, and empty
 */
export async function copyFolder(from: string, to: string): Promise<PolicyFile[]> {
  const files: PolicyFile[] = [];
  await copyInto(from, to, '', files);
  return files;
}

async function copyInto(
  from: string,
  to: string,
  below: string,
  files: PolicyFile[],
): Promise<void> {
  const entries = await readdir(join(from, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    const fits = policyFileNameSchema.safeParse(name).success;
    if (!fits || !(entry.isFile() || entry.isDirectory())) {
      throw new Error(
        `${join(from, name)} cannot be part of a policy version: it must be a file or a folder, its name letters, digits, '.', '_', '-', not beginning with a dot`,
      );
    }
    if (entry.isDirectory()) {
      await mkdir(join(to, name), { mode: 0o700 });
      await copyInto(from, to, name, files);
    } else files.push(await copyFile(from, to, name));
  }
  await syncFolder(join(to, below));
}

async function copyFile(from: string, to: string, name: string): Promise<PolicyFile> {
  const source = await open(join(from, name), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const target = await open(join(to, name), 'wx', 0o600);
    try {
      const hash = createHash('sha256');
      const block = Buffer.allocUnsafe(BLOCK);
      let bytes = 0;
      for (;;) {
        const { bytesRead } = await source.read(block, 0, block.length, bytes);
        if (bytesRead === 0) break;
        const piece = block.subarray(0, bytesRead);
        hash.update(piece);
        await target.writeFile(piece);
        bytes += bytesRead;
      }
      await target.sync();
      return { name, bytes, sha256: hash.digest('hex') };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
