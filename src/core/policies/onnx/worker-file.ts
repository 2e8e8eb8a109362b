import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package, from source and from any bundle inside of it. */
export function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    if (isPackage(join(folder, 'package.json'))) return folder;
    const parent = dirname(folder);
    if (parent === folder) throw new Error('the folder of prime-agent was not found');
    folder = parent;
  }
}

/** The bundle that the embedded model's process runs, made by `npm run build`. */
export function workerFile(): string {
  return join(packageFolder(), 'dist', 'onnx-worker.js');
}

function isPackage(manifest: string): boolean {
  if (!existsSync(manifest)) return false;
  return JSON.parse(readFileSync(manifest, 'utf8')).name === 'prime-agent';
}
