import type { Preview } from '../../core/outbox/preview.ts';
import { describeLocalReason } from '../../core/trajectories/uploadable.ts';
import { byteSize } from './byte-size.ts';
import { plural, type Style } from './style.ts';

const NAMES: Readonly<Record<Preview['parts'][number]['name'], string>> = {
  messages: 'first messages: the task, the failing test, code that it imports',
  replies: 'replies of the policy, with its calls of tools',
  observations: 'what the tools answered: output of commands, views of files',
  patch: 'the patch',
  facts: 'ids, hashes, settings, times, tokens with their log-probabilities',
};

const CALLS_SHOWN = 12;

/** What would leave this machine with one attempt. */
export function renderPreview(preview: Preview, style: Style): string {
  const { attemptId, workspaceName, targets, policy, outcome, parts, calls, changed } = preview;
  const shown = (text: string): string => style.visible(text);
  const lines = [
    style.bold(`Attempt ${attemptId}: what would be sent`),
    `  workspace ${shown(workspaceName)}; tests ${shown(targets.join(', '))}; ${shown(policy)}; ${outcome}`,
    ...parts.map(
      ({ name, count, bytes }) => `  ${byteSize(bytes).padStart(8)}  ${count} × ${NAMES[name]}`,
    ),
    `  ${plural(preview.tokens, 'token')} of the policy's own`,
    ...list('Calls of tools', calls.slice(0, CALLS_SHOWN).map(shown), calls.length),
    ...list('Files that the patch changes', changed.map(shown), changed.length),
    ...redacted(preview),
    ...preview.stays.map((reason) =>
      style.yellow(`It stays on this machine, whatever you allow: ${describeLocalReason(reason)}.`),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function redacted({ redactions }: Preview): readonly string[] {
  const places = redactions.map(({ kind, count }) => `${kind} × ${count}`).join(', ');
  return [
    redactions.length === 0
      ? 'Redaction found nothing to take out; paths, names of user and host are replaced in any case.'
      : `Taken out before it was recorded: ${places}. Paths, names of user and host are replaced, too.`,
  ];
}

function list(title: string, items: readonly string[], total: number): readonly string[] {
  if (total === 0) return [];
  const more = total > items.length ? [`    … and ${total - items.length} more`] : [];
  return [`  ${title}:`, ...items.map((item) => `    ${item.replaceAll('\n', ' ')}`), ...more];
}
