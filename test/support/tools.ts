import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Path of a program on PATH. */
export function onPath(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(':')) {
    if (!folder.startsWith('/')) continue;
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // Not there.
    }
  }
  return undefined;
}
