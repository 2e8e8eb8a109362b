import type * as vscode from 'vscode';
import type { FixReport } from '../../core/fix/fix.ts';
import type { PreparedProject } from '../../core/fix/prepare.ts';
import type { TargetReport } from '../../core/fix/rounds.ts';
import type { BaselineOutcome, GradeReport } from '../../core/grading/types.ts';
import { parsePatch } from '../../core/snapshot/patch-format.ts';
import { runsLater } from '../../core/snapshot/runs-later.ts';
import type { FixReviewInput, ReviewFile, ReviewTest } from '../ports.ts';

export interface ProposalContext {
  readonly folder: vscode.WorkspaceFolder;
  readonly policy: string;
  readonly baselines: ReadonlyMap<PreparedProject, BaselineOutcome>;
  /** Of an attempt's record; absolute. */
  readonly recordOf: (attemptId: string) => string;
}

/**
 * What a fix proposes: first the patches that solve their tests, all together, then each that needs
 * its changes to tests, for itself. Empty: nothing was found.
 */
export function proposalsOf(
  report: FixReport,
  context: ProposalContext,
): readonly FixReviewInput[] {
  const proposals: FixReviewInput[] = [];
  if (report.solved.length > 0) proposals.push(solvedProposal(report, context));
  for (const target of report.targets) {
    const { best } = target;
    if (best?.row.outcome !== 'solved_with_test_changes') continue;
    const grades = best.grade ? [best.grade] : [];
    proposals.push({
      ...common(context, best.patch, grades),
      id: best.attemptId,
      outcome: 'solved_with_test_changes',
      summary: best.summary,
      tests: [testOf(target, 'passed')],
      attempts: [reference(context, best.attemptId, [target.target.id])],
    });
  }
  return proposals;
}

function solvedProposal(report: FixReport, context: ProposalContext): FixReviewInput {
  const solved = new Set(report.solved);
  const taken = report.targets.filter(
    ({ target, best }) => solved.has(target.id) && best?.row.outcome === 'solved',
  );
  const attempts = taken.flatMap(({ target, best }) => {
    if (!best) return [];
    const also = report.targets.filter(({ solvedBy }) => solvedBy === target.id);
    const targets = [target.id, ...also.map((other) => other.target.id)];
    return [reference(context, best.attemptId, targets)];
  });
  const reasons = new Map(report.unsolved.map(({ id, reason }) => [id, reason]));
  return {
    ...common(context, report.patch, report.verification),
    id: attempts.map(({ attemptId }) => attemptId).join('+'),
    outcome: 'solved',
    summary: taken
      .map(({ best }) => best?.summary.trim() ?? '')
      .filter((text) => text !== '')
      .join('\n\n'),
    tests: report.targets.map((target) =>
      solved.has(target.target.id)
        ? testOf(target, 'passed')
        : testOf(target, 'failed', reasons.get(target.target.id)),
    ),
    attempts,
  };
}

function common(
  { folder, policy, baselines }: ProposalContext,
  patch: string,
  grades: readonly GradeReport[],
) {
  const reverted = new Set(grades.flatMap((grade) => grade.reverted.map(fileOf)));
  const later = new Set(runsLater(patch));
  const steering = [...baselines.keys()].map(({ setup }) => setup.framework.steering);
  const files = parsePatch(patch).map(
    ({ path, status, binary }): ReviewFile => ({
      path,
      status,
      binary,
      steersTests:
        reverted.has(path) ||
        steering.some((rules) => rules.isTestFile(path) || rules.isSteeringFile(path)),
      runsLater: later.has(path),
    }),
  );
  const passed = [...baselines.values()].flatMap((outcome) =>
    outcome.kind === 'baseline' ? outcome.baseline.passing : [],
  );
  const broken = new Set(
    grades.flatMap((grade) => (grade.asSubmitted ?? grade.strict).broken.map(({ id }) => id)),
  );
  return {
    folder,
    policy,
    patch,
    files,
    flags: grades.flatMap((grade) => grade.flags),
    stillPassing: passed.filter((id) => !broken.has(id)).length,
  };
}

/** `file` or `file: key`. */
function fileOf(entry: string): string {
  return entry.split(': ', 1)[0] ?? entry;
}

function testOf({ target }: TargetReport, after: ReviewTest['after'], reason?: string): ReviewTest {
  const { id, file, line, status, failure } = target;
  return {
    id,
    file,
    ...(line === undefined ? {} : { line }),
    before: { status, ...(failure ? { failure } : {}) },
    after,
    ...(reason === undefined ? {} : { reason }),
  };
}

function reference(
  { recordOf }: ProposalContext,
  attemptId: string,
  targets: readonly string[],
): FixReviewInput['attempts'][number] {
  return { attemptId, targets, trajectoryPath: recordOf(attemptId) };
}
