import type { FixReport, TargetReport } from '../../core/fix/fix.ts';
import type { PolicyDescription } from '../../core/policies/policy.ts';
import { plural, type Style, seconds } from './style.ts';

/** The closing words of `fix`: per test what was tried, then the patch. */
export function renderReport(report: FixReport, style: Style): string {
  const solved = new Set(report.solved);
  const rows = report.targets.map((target) =>
    renderTarget(target, report, solved.has(target.target.id), style),
  );
  const parts = [rows.join('\n')];
  if (report.flaky.length > 0) {
    parts.push(`${style.yellow('!')} Flaky, so not worked on: ${report.flaky.join(', ')}`);
  }
  if (report.patch) parts.push(colourPatch(report.patch.trimEnd(), style));
  const count = `${solved.size} of ${plural(report.targets.length, 'failing test')} solved`;
  parts.push(report.cancelled ? `Cancelled: ${count}.` : `${count}.`);
  return `${parts.join('\n\n')}\n`;
}

function renderTarget(
  entry: TargetReport,
  report: FixReport,
  solved: boolean,
  style: Style,
): string {
  const { target, attempts, best, solvedBy } = entry;
  const mark = solved ? style.green('✓') : style.red('✗');
  const turns = attempts.reduce((sum, attempt) => sum + attempt.totals.turns, 0);
  const time = attempts.reduce((sum, attempt) => sum + attempt.durationMs, 0);
  const used =
    attempts.length > 0
      ? ` (${plural(attempts.length, 'attempt')}, ${plural(turns, 'turn')}, ${seconds(time)})`
      : '';
  const lines = [`${mark} ${target.id}${used}`];
  if (solvedBy) lines.push(`  fixed by the patch for ${solvedBy}`);
  else if (solved && best?.summary)
    lines.push(...best.summary.split('\n').map((line) => `  ${line}`));
  const reason = report.unsolved.find((item) => item.id === target.id)?.reason;
  if (reason) lines.push(`  ${reason}`);
  return lines.join('\n');
}

export function colourPatch(patch: string, style: Style): string {
  return patch
    .split('\n')
    .map((line) => {
      if (/^(diff |index |\+\+\+ |--- )/.test(line)) return style.dim(line);
      if (line.startsWith('@@')) return style.cyan(line);
      if (line.startsWith('+')) return style.green(line);
      if (line.startsWith('-')) return style.red(line);
      return line;
    })
    .join('\n');
}

/** The same for scripts. Field names are part of the interface (README.md, JSON output). */
export function jsonReport(
  report: FixReport,
  policy: PolicyDescription,
  applied: { readonly kind: string } | undefined,
) {
  return {
    outcome: report.unsolved.length === 0 ? 'solved' : 'not-solved',
    policy: policy.label,
    solved: report.solved,
    unsolved: report.unsolved,
    flaky: report.flaky,
    cancelled: report.cancelled,
    applied: applied?.kind === 'applied',
    patch: report.patch,
    tests: report.targets.map(({ target, framework, attempts, best, solvedBy }) => ({
      id: target.id,
      framework,
      solved: report.solved.includes(target.id),
      solvedBy,
      summary: best?.summary,
      patch: best?.patch,
      attempts: attempts.map((attempt) => ({
        id: attempt.attemptId,
        outcome: attempt.row.outcome,
        reward: attempt.row.reward,
        reason: attempt.row.reason,
        turns: attempt.totals.turns,
        promptTokens: attempt.totals.promptTokens,
        completionTokens: attempt.totals.completionTokens,
        cost: attempt.totals.cost,
        durationMs: attempt.durationMs,
        flags: attempt.grade?.flags ?? [],
      })),
    })),
  };
}
