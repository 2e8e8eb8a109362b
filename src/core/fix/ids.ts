import { createHash, randomBytes } from 'node:crypto';
import type { GradeSetup } from '../grading/types.ts';

/** Sortable by time, unique between processes: `20261201T172240Z-3f9c1b2a`. */
export function newId(now: Date = new Date()): string {
  const stamp = now.toISOString().replace(/[-:]/g, '').replace(/\.\d+/, '');
  return `${stamp}-${randomBytes(4).toString('hex')}`;
}

/** sha256 over snapshot, framework and targets: the same task has the same id on every machine. */
export function taskIdOf(
  setup: Pick<GradeSetup, 'spec' | 'framework' | 'projectPath'>,
  targets: readonly string[],
): string {
  return createHash('sha256')
    .update(
      JSON.stringify([
        setup.spec.base.id,
        setup.framework.id,
        setup.projectPath,
        [...targets].sort(),
      ]),
    )
    .digest('hex');
}
