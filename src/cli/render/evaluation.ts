import type { Comparison, ComparisonRow } from '../../core/evaluation/compare.ts';
import type { EvaluationProgress } from '../../core/evaluation/evaluate.ts';
import type { Estimate } from '../../core/evaluation/statistics.ts';
import type { EvaluationSummary } from '../../core/evaluation/summary.ts';
import { plural, type Style, seconds } from './style.ts';

/** The numbers of one evaluation, for people. */
export function renderSummary(summary: EvaluationSummary, style: Style): string {
  const { policy, split, tasks, passAt, withinTries, means, maxTries } = summary;
  const { visible } = style;
  const limit = maxTries === undefined ? '' : `, ${tries(maxTries)} each at most`;
  const lines = [
    style.bold(
      `${visible(policy)}: ${plural(summary.attempts, 'attempt')} at ${plural(tasks, 'task')}${limit}`,
    ),
  ];
  if (tasks === 0) lines.push('  There is no attempt that counts.');
  else {
    const [first, ...more] = passAt;
    const others = more.map((each) => `pass@${each.k} ${percent(each.value)}`).join(', ');
    if (first) {
      lines.push(
        `  ${split} ${interval(first)} of ${plural(tasks, 'task')}${others === '' ? '' : `, ${others}`}`,
      );
    }
    lines.push('');
    lines.push(
      ...table([
        ['solved', 'share', '95 % interval'],
        ...passAt.map((each) => [
          // Some tasks may have too few attempts that count.
          `pass@${each.k}${each.tasks === tasks ? '' : ` of ${plural(each.tasks, 'task')}`}`,
          ...cells(each),
        ]),
        ...withinTries.map((each) => [`within ${tries(each.tries)}`, ...cells(each)]),
      ]),
    );
    lines.push('');
    lines.push(
      `  per attempt: ${number(means.turns)} turns, ${number(means.tries)} tries, ${number(means.testRuns)} test runs, ${number(means.tokens)} tokens, ${seconds(means.seconds * 1000)}`,
    );
  }
  for (const { outcome, attempts, reasons } of summary.outcomes) {
    lines.push(`  ${attempts} ${outcome.replaceAll('_', ' ')}`);
    if (outcome === 'solved') continue;
    for (const { reason, attempts: some } of reasons.slice(0, MOST_REASONS)) {
      lines.push(style.wrap(`    ${some} ${visible(reason)}`, '      '));
    }
    const rest = reasons.slice(MOST_REASONS).reduce((sum, each) => sum + each.attempts, 0);
    if (rest > 0) lines.push(`    ${rest} for other reasons`);
  }
  if (summary.repeated > 0) {
    lines.push(`  ${summary.repeated} made a second time after a failure of the machine`);
  }
  if (summary.invalid > 0) {
    lines.push(`  ${summary.invalid} invalid both times: they count neither way`);
  }
  if (summary.missing > 0) {
    lines.push(`  ${plural(summary.missing, 'attempt')} not made yet`);
  }
  return `${lines.join('\n')}\n`;
}

const MOST_REASONS = 5;

/** Two evaluations side by side. */
export function renderComparison(comparison: Comparison, style: Style): string {
  const { policies, tasks, rows, warnings } = comparison;
  const [first, second] = policies.map(style.visible);
  const lines = [
    style.bold(`A ${first}`),
    style.bold(`B ${second}`),
    `  ${plural(tasks, 'task')}, paired`,
    '',
  ];
  if (tasks === 0) lines.push('  The two have no task in common: evaluate both on the same file.');
  else {
    lines.push(
      ...table([
        ['solved', 'A', 'B', 'B − A', '95 % interval', 'B better / worse', 'p'],
        ...rows.map((row) => [
          row.tries === undefined ? 'in all' : `within ${tries(row.tries)}`,
          percent(row.first),
          percent(row.second),
          points(row.value),
          `${points(row.low)} to ${points(row.high)}`,
          `${row.better} / ${row.worse}`,
          probability(row),
        ]),
      ]),
    );
    lines.push('');
    lines.push('  Differences in points, intervals from tasks drawn anew, p of sign flips.');
  }
  for (const warning of warnings) {
    lines.push(style.wrap(`  ! ${style.visible(warning)}`, '    '));
  }
  return `${lines.join('\n')}\n`;
}

/** One line while the evaluation goes on. */
export function renderProgress({ done, of, solved, invalid }: EvaluationProgress): string {
  const counted = done - invalid;
  const share = counted > 0 ? `, ${percent(solved / counted)} solved` : '';
  return `${done} of ${plural(of, 'attempt')}${share}${invalid > 0 ? `, ${invalid} invalid` : ''}`;
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) => {
    const padded = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return `  ${padded.join('  ')}`.trimEnd();
  });
}

function cells(estimate: Estimate): readonly string[] {
  return [percent(estimate.value), `${digits(estimate.low)} to ${digits(estimate.high)}`];
}

function interval(estimate: Estimate): string {
  const { value, low, high } = estimate;
  return `${percent(value)} (${digits(low)} to ${digits(high)})`;
}

function percent(share: number): string {
  return `${digits(share)} %`;
}

function digits(share: number): string {
  return (share * 100).toFixed(1);
}

/** A difference in percentage points, with its sign. */
function points(difference: number): string {
  const text = digits(Math.abs(difference));
  if (text === '0.0') return text;
  return `${difference < 0 ? '−' : '+'}${text}`;
}

function probability({ p, exact }: ComparisonRow): string {
  const text = p < 0.001 ? '< 0.001' : p.toFixed(3);
  return exact ? text : `≈ ${text}`;
}

function number(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1);
}

function tries(count: number): string {
  return count === 1 ? '1 try' : `${count} tries`;
}
