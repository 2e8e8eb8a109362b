import { createHash } from 'node:crypto';
import { AGENT_VERSION } from '../../../src/core/fix/version.ts';
import { gradePatch } from '../../../src/core/grading/grade.ts';
import type { GradeOutcome, GradeReport, GradeRequest } from '../../../src/core/grading/types.ts';
import { SandboxFailure } from '../../../src/core/sandbox/sandbox.ts';
import { applyPatch, extractPatch } from '../../../src/core/snapshot/patch.ts';

export interface GradeCacheClient {
  find(key: string): Promise<GradeReport | undefined>;
  keep(key: string, grade: GradeReport): void;
}

/**
 * `gradePatch`, which is asked once for each tree that patches of a task lead to. Attempts of a group
 * often come to the same files.
 *
 * @param task what the tree before any patch is part of
 * @param environment what else the tests run with
 */
export async function gradeCached(
  request: GradeRequest,
  cache: GradeCacheClient,
  task: string,
  environment: string,
): Promise<GradeOutcome> {
  const after = await treeAfter(request);
  // One that does not apply has no tree; grading says what that means.
  if (after === undefined) return gradePatch(request);
  const { framework, projectPath } = request.setup;
  const command = [framework.id, projectPath, [...request.targets].sort()];
  const key = createHash('sha256')
    .update(JSON.stringify([AGENT_VERSION, task, after, command, environment]))
    .digest('hex');
  const known = await cache.find(key);
  if (known) return { kind: 'graded', report: known };
  const outcome = await gradePatch(request);
  if (outcome.kind === 'graded') cache.keep(key, outcome.report);
  return outcome;
}

/** The files after the patch, told by how they differ from those before it, whoever wrote the patch. */
async function treeAfter({ setup, patch, signal }: GradeRequest): Promise<string | undefined> {
  if (patch.trim() === '') return undefined;
  try {
    const session = await setup.provider.open(setup.spec, signal);
    try {
      const applied = await applyPatch(session, patch);
      if (applied.kind !== 'applied') return undefined;
      const found = await extractPatch(session, setup.spec.base);
      return found.kind === 'patch' ? found.patch : undefined;
    } finally {
      await session.close();
    }
  } catch (error) {
    // Grading tries again, and tells a sandbox that broke from one that was broken.
    if (error instanceof SandboxFailure || signal?.aborted) return undefined;
    throw error;
  }
}
