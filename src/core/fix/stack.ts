import { runTests } from '../frameworks/run.ts';
import { gradePatch } from '../grading/grade.ts';
import type { Baseline, GradeReport, GradeSetup } from '../grading/types.ts';
import { applyPatch, extractPatch } from '../snapshot/patch.ts';

/** The verified patch of one series, with every target that it is known to solve. */
export interface SolvedPatch {
  readonly setup: GradeSetup;
  readonly baseline: Baseline;
  readonly patch: string;
  readonly targets: readonly string[];
}

export interface TogetherReport {
  readonly patch: string;
  readonly verification: readonly GradeReport[];
  readonly solved: readonly string[];
  /** Target → why it is not solved although its own patch was. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Which of `targets` pass once `patches` are applied? With a conflict none does. */
export async function passingWith(
  setup: GradeSetup,
  patches: readonly SolvedPatch[],
  targets: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (targets.length === 0) return new Set();
  const session = await setup.provider.open(setup.spec, signal);
  try {
    for (const { patch } of patches) {
      if ((await applyPatch(session, patch)).kind !== 'applied') return new Set();
    }
    const { framework, program, projectPath, timeoutMs } = setup;
    const run = await runTests(
      session,
      framework,
      { program, projectPath, tests: targets },
      { timeoutMs, signal },
    );
    if (run.kind !== 'ran') return new Set();
    const passed = run.results.filter((test) => test.status === 'passed');
    return new Set(passed.map((test) => test.id).filter((id) => targets.includes(id)));
  } finally {
    await session.close();
  }
}

/**
 * Puts the patches on top of each other and grades the result per project. Patches that do not fit
 * onto the earlier ones are left out and named.
 */
export async function verifyTogether(
  patches: readonly SolvedPatch[],
  signal: AbortSignal,
): Promise<TogetherReport> {
  const problems = new Map<string, string>();
  const [first] = patches;
  if (!first) return { patch: '', verification: [], solved: [], problems };

  const kept: SolvedPatch[] = [];
  let combined = first.patch;
  if (patches.length === 1) kept.push(first);
  else {
    const session = await first.setup.provider.open(first.setup.spec, signal);
    try {
      for (const entry of patches) {
        const applied = await applyPatch(session, entry.patch);
        if (applied.kind === 'applied') kept.push(entry);
        else
          for (const id of entry.targets)
            problems.set(
              id,
              'its patch does not fit onto the patches before it: apply those, then run the same command again',
            );
      }
      const extracted = await extractPatch(session, first.setup.spec.base);
      if (extracted.kind !== 'patch') throw new Error(extracted.reason);
      combined = extracted.patch;
    } finally {
      await session.close();
    }
  }

  const verification: GradeReport[] = [];
  const solved: string[] = [];
  for (const setup of new Set(kept.map((entry) => entry.setup))) {
    const entries = kept.filter((entry) => entry.setup === setup);
    const targets = entries.flatMap((entry) => entry.targets);
    const { baseline } = entries[0] ?? first;
    const graded = await gradePatch({ setup, baseline, targets, patch: combined, signal });
    if (graded.kind !== 'graded') {
      for (const id of targets)
        problems.set(id, `the patches together could not be graded: ${graded.reason}`);
      continue;
    }
    verification.push(graded.report);
    if (graded.report.verdict === 'passed') solved.push(...targets);
    else
      for (const id of targets)
        problems.set(id, `together with the other patches: ${graded.report.strict.explanation}`);
  }
  return { patch: combined, verification, solved, problems };
}
