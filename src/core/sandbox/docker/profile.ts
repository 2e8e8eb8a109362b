import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from './engine.ts';
import { seccompProfile } from './seccomp.ts';

/**
 * Creates something with our profile of system calls, in the form that the engine takes: Docker its text,
 * Podman the name of a file of its own machine, which it reads at once. `create` gets what belongs
 * behind `seccomp=`; undefined where Podman is elsewhere and cannot read it: its default stays.
 */
export async function withProfile<T>(
  engine: Pick<Engine, 'kind' | 'onThisMachine'>,
  create: (seccomp: string | undefined) => Promise<T>,
): Promise<T> {
  if (engine.kind === 'docker') return create(seccompProfile());
  if (!engine.onThisMachine) return create(undefined);
  const folder = await mkdtemp(join(tmpdir(), 'prime-profile-'));
  try {
    const file = join(folder, 'seccomp.json');
    await writeFile(file, seccompProfile());
    return await create(file);
  } catch (error) {
    // A forwarded socket: the file is here, and the engine is not. Whatever else it has against the
    // profile is a failure: nobody is to run with a weaker one unawares.
    if (error instanceof Error && /seccomp.*no such file/i.test(error.message)) {
      return await create(undefined);
    }
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
