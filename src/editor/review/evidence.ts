import type * as vscode from 'vscode';
import type { TestFailure } from '../../core/frameworks/framework.ts';
import type { ReviewTest } from '../ports.ts';
import type { Review } from './model.ts';
import { changesText, fileNotes, outcomeText } from './words.ts';

/** What speaks for the change and what to look at, as Markdown. */
export function renderEvidence(vs: typeof vscode, review: Review): string {
  const { l10n } = vs;
  const { input, rerun } = review;
  const sections = [
    `# ${escaped(review.title)}`,
    `**${escaped(outcomeText(vs, review))}** · ${escaped(input.policy)}`,
  ];
  if (input.outcome !== 'solved') {
    sections.push(
      l10n.t(
        'The tests pass only because this change also changes tests, or how they are run. Look at these files first.',
      ),
    );
  }
  if (input.summary.trim() !== '') sections.push(quoted(input.summary));
  sections.push(`## ${l10n.t('Tests')}`);
  for (const test of input.tests) sections.push(renderTest(vs, test));
  sections.push(l10n.t('Other tests that passed before and still pass: {0}.', input.stillPassing));
  if (rerun !== undefined && rerun !== 'running') {
    sections.push(
      rerun.failed.length === 0
        ? l10n.t('In the workspace, all {0} pass.', rerun.passed)
        : l10n.t('In the workspace, these fail: {0}.', escaped(rerun.failed.join(', '))),
    );
  }
  if (input.flags.length > 0) {
    const flags = input.flags.map(({ file, line, explanation }) => {
      const place = line === undefined ? file : `${file}:${line}`;
      return `- ${escaped(place)}: ${escaped(explanation)}`;
    });
    sections.push(`## ${l10n.t('Look at this before you accept')}`, flags.join('\n'));
  }
  const files = review.files.map((file) => {
    const notes = [changesText(vs, file.units.length), ...fileNotes(vs, file)];
    return `- ${escaped(file.file.path)}: ${notes.map(escaped).join(', ')}`;
  });
  sections.push(`## ${l10n.t('Files')}`, files.join('\n'));
  return `${sections.join('\n\n')}\n`;
}

function renderTest(vs: typeof vscode, test: ReviewTest): string {
  const { l10n } = vs;
  const now = test.after === 'passed' ? l10n.t('passes') : l10n.t('still fails');
  const head = `- **${escaped(test.id)}**: ${escaped(test.before.status)} → **${now}**`;
  const reason = test.reason === undefined ? [] : [`  ${escaped(test.reason)}`];
  const failure = test.before.failure ? [indented(failureText(vs, test.before.failure))] : [];
  return [head, ...reason, ...failure].join('\n\n');
}

function failureText({ l10n }: typeof vscode, failure: TestFailure): string {
  const { message, expected, actual } = failure;
  if (expected === undefined || actual === undefined) return message;
  return `${l10n.t('expected: {0}', expected)}\n${l10n.t('actual: {0}', actual)}`;
}

/** A fence that nothing in the text can end. */
function indented(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text.trimEnd()}\n${fence}`.replace(/^/gm, '  ');
}

/** Plain text as it is: what a policy wrote is never markup of ours. */
function quoted(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => `> ${escaped(line)}`)
    .join('\n');
}

function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+!|<>~]/g, '\\$&').replace(/\s+/g, ' ');
}
