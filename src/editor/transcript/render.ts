import type * as vscode from 'vscode';
import { escapeControls } from '../../core/platform/escape-controls.ts';
import { describeFeedback, type FeedbackLine } from '../../core/trajectories/feedback.ts';
import type { TurnLine } from '../../core/trajectories/schema.ts';
import type { Trajectory } from '../../core/trajectories/trajectory.ts';
import { fenced } from '../../core/trajectories/transcript.ts';
import { duration, outcomeWord, testName } from '../support/attempt-words.ts';
import { callText } from './call-text.ts';
import { cutText } from './cut.ts';

export interface RenderOptions {
  readonly l10n: Pick<typeof vscode.l10n, 't'>;
  /** Long texts are not cut. */
  readonly whole: boolean;
  readonly formatTime: (time: Date) => string;
  readonly feedback: readonly FeedbackLine[];
}

/**
 * The record of an attempt as Markdown that is read as it is, in an editor: a heading per turn for the
 * outline, everything that a model or a command wrote in fences, and what it came to at the top.
 */
export function renderTranscript(trajectory: Trajectory, options: RenderOptions): string {
  const { l10n } = options;
  const { header, turns, end, cut } = trajectory;
  const began = Date.parse(header.startedAt);
  const sections = [
    title(trajectory, options),
    facts(trajectory, options),
    ...(end?.summary.trim() ? [block(end.summary, '', options)] : []),
    `## ${l10n.t('Task')}`,
    ...header.messages
      .filter(({ role }) => role !== 'system')
      .map(({ content }) => block(content, '', options)),
    ...turns.flatMap((turn) => turnSections(turn, began, options)),
  ];
  if (end) {
    sections.push(
      `## ${l10n.t('Patch')}`,
      end.patch === '' ? l10n.t('Nothing was changed.') : block(end.patch, 'diff', options),
    );
  } else {
    sections.push(
      cut
        ? l10n.t('The record was cut off here, in the middle of a line.')
        : l10n.t('The attempt has no end yet: it is still going on, or it was cut off.'),
    );
  }
  const instructions = header.messages.filter(({ role }) => role === 'system');
  if (instructions.length > 0) {
    sections.push(
      `## ${l10n.t('Instructions')}`,
      ...instructions.map(({ content }) => block(content, '', options)),
    );
  }
  return `${sections.join('\n\n')}\n`;
}

/** What the link in the document says where something was left out; see transcript-links.ts. */
export function showEverything(l10n: RenderOptions['l10n']): string {
  return l10n.t('Show everything');
}

function title({ header, end }: Trajectory, { l10n }: RenderOptions): string {
  const [first = '', ...more] = header.task.targets;
  const name = oneLine(testName(first));
  const word = outcomeWord(l10n, end?.outcome ?? 'unfinished');
  const others = more.length === 0 ? '' : ` ${l10n.t('and {0} more', more.length)}`;
  return `# ${word}: ${name}${others}`;
}

function facts({ header, turns, end }: Trajectory, options: RenderOptions): string {
  const { l10n, formatTime, feedback } = options;
  const { policy, task } = header;
  const lines: (readonly [string, string])[] = [];
  if (end) {
    lines.push([l10n.t('Outcome'), `${outcomeWord(l10n, end.outcome)}: ${oneLine(end.reason)}`]);
  }
  for (const target of task.targets) lines.push([l10n.t('Test'), code(target)]);
  lines.push([
    l10n.t('Policy'),
    code(policy.version ? `${policy.label} ${policy.version}` : policy.label),
  ]);
  const took = end ? duration(l10n, end.totals.durationMs) : undefined;
  const count = end?.totals.turns ?? turns.length;
  const turnText = count === 1 ? l10n.t('1 turn') : l10n.t('{0} turns', count);
  lines.push([
    l10n.t('Time'),
    [formatTime(new Date(header.startedAt)), took, turnText].filter(Boolean).join(', '),
  ]);
  if (end && end.totals.completionTokens > 0) {
    const { promptTokens, completionTokens, cost } = end.totals;
    const tokens = l10n.t('{0} read, {1} written', promptTokens, completionTokens);
    lines.push([
      l10n.t('Tokens'),
      cost === undefined ? tokens : `${tokens}, ${cost.toFixed(4)} USD`,
    ]);
  }
  lines.push([l10n.t('Sandbox'), header.sandbox]);
  for (const flag of end?.flags ?? []) lines.push([l10n.t('Look at'), oneLine(flag)]);
  if (end?.patchRedacted) {
    lines.push([l10n.t('Look at'), l10n.t('a secret was taken out of the patch')]);
  }
  if (end?.localOnly) {
    lines.push([
      l10n.t('Look at'),
      l10n.t('the policy wrote a secret: this record stays on this machine'),
    ]);
  }
  const became = describeFeedback(feedback);
  if (became !== undefined) lines.push([l10n.t('Review'), oneLine(became)]);
  lines.push([l10n.t('Attempt'), code(header.attemptId)]);
  return lines.map(([name, value]) => `- ${name}: ${value}`).join('\n');
}

function turnSections(turn: TurnLine, began: number, options: RenderOptions): readonly string[] {
  const { l10n } = options;
  const { reply, observations } = turn;
  const calls = reply.calls.map((call) => ({ call, shown: callText(call) }));
  const named = calls.map(({ shown }) => shown.title);
  const what = named.length > 3 ? [...named.slice(0, 3), `+${named.length - 3}`] : named;
  const heading = [l10n.t('Turn {0}', turn.index + 1), what.join(', ')].filter(Boolean).join(': ');
  const sections = [`## ${oneLine(heading)}`, timeText(turn, began, options)];
  if (reply.reasoning) sections.push(l10n.t('Thinking:'), block(reply.reasoning, '', options));
  if (reply.content.trim()) sections.push(block(reply.content, '', options));
  const answered = new Set<string>();
  for (const { call, shown } of calls) {
    sections.push(`**${oneLine(shown.title)}**`);
    if (shown.text !== '') sections.push(block(shown.text, shown.language, options));
    const observation = observations.find(
      ({ callId }) => callId === call.id && !answered.has(callId),
    );
    if (!observation) continue;
    answered.add(observation.callId);
    sections.push(...observationSections(observation, options));
  }
  for (const { reason, text } of reply.malformed) {
    sections.push(l10n.t('Not a well-formed call: {0}', oneLine(reason)), block(text, '', options));
  }
  if (reply.finish === 'length') {
    sections.push(l10n.t('The reply was cut off by its token limit.'));
  }
  for (const observation of observations) {
    if (answered.has(observation.callId)) continue;
    sections.push(`**${oneLine(observation.name)}**`);
    sections.push(...observationSections(observation, options));
  }
  if (turn.nudge !== undefined) {
    sections.push(l10n.t('The agent answered:'), block(turn.nudge, '', options));
  }
  return sections;
}

/** A search takes no time to decide: that is not worth a word. */
const WORTH_A_WORD_MS = 50;

function timeText(turn: TurnLine, began: number, { l10n }: RenderOptions): string {
  const after = duration(l10n, Date.parse(turn.startedAt) - began);
  if (turn.policyMs < WORTH_A_WORD_MS) return l10n.t('After {0}.', after);
  return l10n.t('After {0}. The policy took {1}.', after, duration(l10n, turn.policyMs));
}

function observationSections(
  { ok, content, durationMs }: TurnLine['observations'][number],
  options: RenderOptions,
): readonly string[] {
  const { l10n } = options;
  const took = duration(l10n, durationMs);
  return [
    ok ? l10n.t('Returned after {0}:', took) : l10n.t('Failed after {0}:', took),
    block(content, '', options),
  ];
}

/** Text of others in a fence that it cannot end; long text in two, with a line that says so between. */
function block(text: string, language: string, { l10n, whole }: RenderOptions): string {
  const { head, leftOut, tail } = cutText(escapeControls(text), whole);
  if (leftOut === 0) return fenced(head, language);
  const said = l10n.t('{0} lines are left out here.', leftOut);
  return [fenced(head, language), `${said} ${showEverything(l10n)}`, fenced(tail, language)].join(
    '\n\n',
  );
}

/** Text of others within a line: no line end, and no markup that could hide or lead elsewhere. */
function oneLine(text: string): string {
  return escapeControls(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`[\]<]/g, '\\$&')
    .trim();
}

function code(text: string): string {
  const plain = escapeControls(text).replace(/\s+/g, ' ').trim();
  const longest = Math.max(0, ...[...plain.matchAll(/`+/g)].map((match) => match[0].length));
  const ticks = '`'.repeat(longest + 1);
  const space = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${ticks}${space}${plain}${space}${ticks}`;
}
