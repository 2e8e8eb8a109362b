import type { FixReport } from '../../core/fix/fix.ts';
import type { TargetReport } from '../../core/fix/rounds.ts';
import type { PolicyDescription } from '../../core/policies/policy.ts';
import { plural, type Style, seconds } from './style.ts';

/** The closing words of `fix`: per test what was tried, then the patch. */
export function renderReport(report: FixReport, style: Style): string {
  const solved = new Set(report.solved);
  const { visible } = style;
  const rows = report.targets.map((target) =>
    renderTarget(target, report, solved.has(target.target.id), style),
  );
  const parts = [rows.join('\n')];
  const tests = new Set(report.targets.map(({ target }) => target.id));
  const files = report.unsolved.filter(({ id }) => !tests.has(id));
  if (files.length > 0) {
    parts.push(
      files
        .map(({ id, reason }) => `${style.red('✗')} ${visible(id)} ${visible(reason)}`)
        .join('\n'),
    );
  }
  if (report.flaky.length > 0) {
    parts.push(`${style.yellow('!')} Flaky, so not worked on: ${visible(report.flaky.join(', '))}`);
  }
  if (report.patch) parts.push(colourPatch(report.patch.trimEnd(), style));
  const count = `${solved.size} of ${plural(report.targets.length, 'failing test')} solved`;
  parts.push(`${count}.`);
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
  const lines = [`${mark} ${style.visible(target.id)}${used}`];
  if (solvedBy) lines.push(`  fixed by the patch for ${style.visible(solvedBy)}`);
  else if (solved && best?.summary) lines.push(...said(best.summary, style));
  const unsolved = report.unsolved.find((item) => item.id === target.id);
  if (unsolved) lines.push(...said(unsolved.reason, style));
  if (unsolved?.remedy) lines.push(...said(unsolved.remedy, style));
  return lines.join('\n');
}

/** Words of a model or a program, below a heading. */
function said(text: string, style: Style): readonly string[] {
  return style
    .visible(text)
    .split('\n')
    .map((line) => style.wrap(`  ${line}`, '  '));
}

export function colourPatch(patch: string, style: Style): string {
  return patch
    .split('\n')
    .map(style.visible)
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
        endedAt: attempt.endedAt,
        flags: attempt.grade?.flags ?? [],
      })),
    })),
  };
}
