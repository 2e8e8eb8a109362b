import { describeFeedback, type FeedbackLine } from './feedback.ts';
import type { TurnLine } from './schema.ts';
import type { Trajectory } from './trajectory.ts';

/** The record as Markdown, for people. Shows everything that the model saw and wrote. */
export function toMarkdown(
  { header, turns, end, cut }: Trajectory,
  feedback: readonly FeedbackLine[] = [],
): string {
  const { task, policy } = header;
  const review = describeFeedback(feedback);
  const sections = [
    `# Attempt ${header.attemptId}`,
    [
      `- Task: ${task.targets.join(', ')} (${task.framework}, ${task.workspaceName})`,
      `- Policy: ${policy.label}${policy.version ? ` (${policy.version})` : ''}`,
      `- Started: ${header.startedAt}, sandbox ${header.sandbox}, ${header.rules} rules, seed ${header.seed}`,
      outcomeLine(end, cut),
      ...(review === undefined ? [] : [`- Review: ${review}`]),
    ].join('\n'),
  ];
  if (end?.summary) sections.push(end.summary);
  for (const message of header.messages) {
    sections.push(`## ${title(message.role)}`, fenced(message.content));
  }
  for (const turn of turns) sections.push(...turnSections(turn));
  if (end) {
    sections.push(
      '## Patch',
      end.patch === '' ? 'Nothing was changed.' : fenced(end.patch, 'diff'),
    );
    if (end.flags.length > 0) {
      sections.push('## Flags', end.flags.map((flag) => `- ${flag}`).join('\n'));
    }
  }
  return `${sections.join('\n\n')}\n`;
}

function outcomeLine(end: Trajectory['end'], cut: boolean): string {
  if (!end) return `- Outcome: unfinished${cut ? ' (the record was cut off in a line)' : ''}`;
  const { totals } = end;
  const reward = end.reward === null ? 'no reward' : `reward ${end.reward}`;
  return (
    `- Outcome: ${end.outcome}, ${reward}: ${end.reason}\n` +
    `- ${totals.turns} turns, ${totals.promptTokens} prompt and ${totals.completionTokens} generated tokens, ` +
    `${(totals.durationMs / 1000).toFixed(1)} s`
  );
}

function turnSections(turn: TurnLine): readonly string[] {
  const { reply } = turn;
  const sections = [`## Turn ${turn.index + 1}`];
  if (reply.reasoning) sections.push('Thinking:', fenced(reply.reasoning));
  if (reply.content) sections.push(fenced(reply.content));
  for (const call of reply.calls) {
    sections.push(`**${call.name}**`, fenced(argumentsText(call.arguments)));
  }
  for (const malformed of reply.malformed) {
    sections.push(`Not a well-formed call (${malformed.reason}):`, fenced(malformed.text));
  }
  if (reply.finish === 'length') sections.push('The reply was cut off by its token limit.');
  for (const observation of turn.observations) {
    sections.push(
      `${observation.name} ${observation.ok ? 'returned' : 'failed'}:`,
      fenced(observation.content),
    );
  }
  if (turn.nudge !== undefined) sections.push('Answer of the agent:', fenced(turn.nudge));
  return sections;
}

function argumentsText(args: Readonly<Record<string, unknown>>): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}

function title(role: string): string {
  return role.charAt(0).toUpperCase() + role.slice(1);
}

/** A fence longer than any in the text, so that nothing in a record can end it. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}
