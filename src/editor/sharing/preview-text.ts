import type * as vscode from 'vscode';
import type { LeftOut } from '../../core/outbox/files.ts';
import type { Preview } from '../../core/outbox/preview.ts';
import { formatBytes } from '../../core/platform/format-bytes.ts';
import { describeLocalReason } from '../../core/trajectories/uploadable.ts';

type L10n = Pick<typeof vscode.l10n, 't'>;

/** What would leave this machine with an attempt, as a document. */
export function previewText(l10n: L10n, preview: Preview): string {
  const { attemptId, workspaceName, targets, parts, tokens, calls, changed } = preview;
  return `${[
    `# ${l10n.t('What would be shared')}`,
    l10n.t(
      'Attempt {0} at {1}, as an example: later attempts at this workspace look like it.',
      attemptId,
      code(workspaceName),
    ),
    ...preview.stays.map(
      (reason) =>
        `**${l10n.t('This one stays on this machine, whatever you allow:')}** ${describeLocalReason(reason)}`,
    ),
    `## ${l10n.t('The record')}`,
    table(
      parts.map(({ name, count, bytes }) => [
        `${count} × ${partName(l10n, name)}`,
        formatBytes(bytes),
      ]),
    ),
    l10n.t('{0} tokens with their log-probabilities.', tokens),
    ...section(l10n.t('Tests'), targets),
    ...section(l10n.t('Calls of tools'), calls),
    ...section(l10n.t('Files that the patch changes'), changed),
    ...section(
      l10n.t('Taken out before it was recorded'),
      preview.redactions.map(({ kind, count }) => `${kind} × ${count}`),
    ),
    `## ${l10n.t('The files that the attempt had before it')}`,
    ...filesText(l10n, preview.files),
    `## ${l10n.t('The very text of the record')}`,
    fence(preview.content),
  ].join('\n\n')}\n`;
}

function filesText(l10n: L10n, files: Preview['files']): readonly string[] {
  if (files === undefined) return [l10n.t('They stay here.')];
  if (files.kind === 'none') return [l10n.t('None would go: {0}.', files.reason)];
  const bytes = files.files.reduce((sum, file) => sum + file.bytes, 0);
  return [
    l10n.t(
      '{0} files, {1} ({2} packed), sent as they are, so that the server can repeat the tests.',
      files.files.length,
      formatBytes(bytes),
      formatBytes(files.packedBytes),
    ),
    table(files.files.map((file) => [code(file.path), formatBytes(file.bytes)])),
    ...(files.leftOut.length === 0 ? [] : [`### ${l10n.t('Not with them')}`]),
    ...(files.leftOut.length === 0
      ? []
      : [table(files.leftOut.map(({ path, why }) => [code(path), reasonWords(l10n, why)]))]),
  ];
}

function partName(l10n: L10n, name: Preview['parts'][number]['name']): string {
  switch (name) {
    case 'messages':
      return l10n.t('first messages: the task, the failing test, code that it imports');
    case 'replies':
      return l10n.t('replies of the policy, with its calls of tools');
    case 'observations':
      return l10n.t('what the tools answered: output of commands, views of files');
    case 'patch':
      return l10n.t('the patch');
    case 'facts':
      return l10n.t('ids, hashes, settings, times, tokens');
  }
}

function reasonWords(l10n: L10n, why: LeftOut['why']): string {
  switch (why) {
    case 'ignored':
      return l10n.t('ignored');
    case 'secret-name':
      return l10n.t('by its name a file with secrets');
    case 'secret-found':
      return l10n.t('a secret was found in it');
    case 'not-checked':
      return l10n.t('too large to be looked through');
    case 'odd-name':
      return l10n.t('an odd name');
    case 'outside':
      return l10n.t('a link that leads out of the workspace');
  }
}

function section(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0
    ? []
    : [`### ${title}`, items.map((item) => `- ${code(item)}`).join('\n')];
}

function table(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `- ${row.join(', ')}`).join('\n');
}

/** Nothing in it can end it. */
function code(text: string): string {
  const ticks = '`'.repeat(longestRun(text) + 1);
  return `${ticks} ${text.replaceAll('\n', ' ')} ${ticks}`;
}

function fence(text: string): string {
  const ticks = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${ticks}json\n${text}${ticks}`;
}

function longestRun(text: string): number {
  return [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 0);
}
