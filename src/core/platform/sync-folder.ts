import { open } from 'node:fs/promises';

/** The names in a folder have reached the disk when this resolves: a renamed file is there after a crash. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
