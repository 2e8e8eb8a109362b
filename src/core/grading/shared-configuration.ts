import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SandboxSession, WORKSPACE } from '../sandbox/sandbox.ts';
import { splitPatch } from '../snapshot/patch.ts';
import type { GradeSetup } from './types.ts';

const MAX_BYTES = 4 * 2 ** 20;

/**
 * Files such as package.json and pyproject.toml hold much that an honest fix may change and a few
 * keys that steer tests: those get their old values back.
 *
 * @returns names of the files in which something was put back
 */
export async function restoreSharedConfiguration(
  session: SandboxSession,
  setup: GradeSetup,
  patch: string,
): Promise<readonly string[]> {
  const restored: string[] = [];
  for (const { path } of splitPatch(patch)) {
    const { steering } = setup.framework;
    const before = await readFile(join(setup.spec.base.tree, path), 'utf8').catch(() => undefined);
    const inside = `${WORKSPACE}/${path}`;
    if ((await session.files.inspect(inside)).kind !== 'file') continue;
    const after = Buffer.from(
      await session.files.read(inside, MAX_BYTES).catch(() => new Uint8Array()),
    ).toString('utf8');
    const wanted = steering.restoreKeys(path, before, after);
    if (wanted === undefined || wanted === after) continue;
    await session.files.write(inside, Buffer.from(wanted));
    restored.push(`${path} (test settings)`);
  }
  return restored;
}
