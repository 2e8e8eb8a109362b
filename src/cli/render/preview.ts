import type { LeftOut } from '../../core/outbox/files.ts';
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
const FILES_SHOWN = 20;
const LEFT_OUT_SHOWN = 10;

const WHY: Readonly<Record<LeftOut['why'], string>> = {
  ignored: 'ignored',
  'secret-name': 'by its name a file with secrets',
  'secret-found': 'a secret was found in it',
  'not-checked': 'too large to be looked through',
  'odd-name': 'an odd name',
  outside: 'a link that leads out of the workspace',
};

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
    ...filesLines(preview, style, FILES_SHOWN, LEFT_OUT_SHOWN),
    ...redacted(preview),
    ...preview.stays.map((reason) =>
      style.yellow(`It stays on this machine, whatever you allow: ${describeLocalReason(reason)}.`),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

/** Every file that would go with it. */
export function renderFiles(preview: Preview, style: Style): string {
  const all = Number.POSITIVE_INFINITY;
  return `${filesLines(preview, style, all, all).join('\n')}\n`;
}

function filesLines(
  { files }: Preview,
  style: Style,
  shown: number,
  leftOutShown: number,
): readonly string[] {
  if (files === undefined) return ['The files that attempts had before them stay here.'];
  const title = style.bold('The files that the attempt had before it:');
  if (files.kind === 'none') return [`${title} none would go, ${files.reason}.`];
  const bytes = files.files.reduce((sum, file) => sum + file.bytes, 0);
  const some = files.files.slice(0, shown);
  const stay = files.leftOut.slice(0, leftOutShown);
  return [
    `${title} ${plural(files.files.length, 'file')}, ${byteSize(bytes)} (${byteSize(files.packedBytes)} packed), as they are, for the server to repeat the tests`,
    ...some.map((file) => `  ${byteSize(file.bytes).padStart(8)}  ${style.visible(file.path)}`),
    ...more(files.files.length - some.length),
    ...(stay.length === 0 ? [] : ['  Not with them:']),
    ...stay.map(({ path, why }) => `    ${style.visible(path)} (${WHY[why]})`),
    ...more(files.leftOut.length - stay.length),
  ];
}

function more(count: number): readonly string[] {
  return count > 0 ? [`    … and ${count} more; --all-files lists them`] : [];
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
