import { chmod, mkdir } from 'node:fs/promises';
import { explainFileError, SnapshotError } from './errors.ts';

/** Makes the folder, for its owner alone. */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  try {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (made !== undefined) await chmod(folder, 0o700);
  } catch (error) {
    const explained = explainFileError(error, folder);
    if (explained instanceof SnapshotError) throw explained;
    throw new SnapshotError(
      'state-folder',
      `Cannot make the folder ${folder}: ${error instanceof Error ? error.message : String(error)}`,
      'Set PRIME_AGENT_HOME to a folder that can be written to.',
    );
  }
}
