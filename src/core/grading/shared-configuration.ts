import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SandboxSession, WORKSPACE } from '../sandbox/sandbox.ts';
import { splitPatch } from '../snapshot/patch.ts';
import { fromRawPath } from '../snapshot/raw-path.ts';
import type { GradeSetup } from './types.ts';

const MAX_BYTES = 4 * 2 ** 20;

/**
 * Files such as package.json and pyproject.toml hold much that an honest fix may change and a few
 * keys that steer tests: those get their old values back, also where the file is gone or became a
 * link.
 *
 * @returns names of the files in which something was put back
 */
export async function restoreSharedConfiguration(
  session: SandboxSession,
  setup: GradeSetup,
  patch: string,
): Promise<readonly string[]> {
  const restored: string[] = [];
  const { steering } = setup.framework;
  for (const path of new Set(splitPatch(patch).flatMap((part) => part.touches.map(fromRawPath)))) {
    const before = await readFile(join(setup.spec.base.tree, path), 'utf8').catch(() => undefined);
    if (steering.restoreKeys(path, before, before ?? '') === undefined) continue;
    const inside = `${WORKSPACE}/${path}`;
    const { kind, isSymlink } = await session.files.inspect(inside);
    const after =
      kind === 'file' && !isSymlink
        ? Buffer.from(
            await session.files.read(inside, MAX_BYTES).catch(() => new Uint8Array()),
          ).toString('utf8')
        : '';
    const wanted = steering.restoreKeys(path, before, after);
    if (wanted === undefined || (wanted === after && !isSymlink)) continue;
    // Writing would go through a link, to what it leads to.
    if (isSymlink) await session.files.remove(inside);
    if (wanted !== '') await session.files.write(inside, Buffer.from(wanted));
    restored.push(`${path} (test settings)`);
  }
  return restored;
}
