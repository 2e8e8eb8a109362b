import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

/** A folder that goes with the test. */
export async function tempFolder(name = 'prime-agent-test-'): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), name)));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}

/** A folder for a whole test file, made before its tests and removed after them. */
export function suiteFolder(name = 'prime-agent-suite-'): () => string {
  let folder = '';
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), name)));
  });
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return () => folder;
}
