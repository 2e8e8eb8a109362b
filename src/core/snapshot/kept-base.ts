import { join } from 'node:path';
import { type Manifest, readManifest } from './manifest.ts';
import { markUse, readBase, releaseUse } from './store.ts';

/** A snapshot of an earlier attempt that is still here. */
export interface KeptBase {
  /** Folder with its files. */
  readonly tree: string;
  readonly manifest: Manifest;
  /** It may be collected from now on. */
  release(): Promise<void>;
}

/** undefined: it was collected meanwhile, or is damaged. Held until it is released. */
export async function openKeptBase(stateDir: string, id: string): Promise<KeptBase | undefined> {
  // Ids come from records: none of them is a path.
  if (!/^[0-9a-f]{16,64}$/.test(id)) return undefined;
  const found = await readBase(stateDir, id);
  if (!found || !(await markUse(stateDir, id))) return undefined;
  const release = (): Promise<void> => releaseUse(stateDir, id);
  const manifest = await readManifest(found.folder);
  if (manifest) return { tree: join(found.folder, 'tree'), manifest, release };
  await release();
  return undefined;
}
