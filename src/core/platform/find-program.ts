import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** Absolute path of a program on PATH; undefined: there is none that may be run. */
export async function findProgram(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  for (const folder of folders) {
    const path = join(folder, name);
    const usable = await access(path, constants.X_OK)
      .then(() => stat(path))
      .then(
        (info) => info.isFile(),
        () => false,
      );
    if (usable) return path;
  }
  return undefined;
}
