import { resolve } from 'node:path';
import { coversFiles } from '../../core/outbox/consent.ts';
import { openDesk } from '../../core/outbox/desk.ts';
import type { OutboxEntry } from '../../core/outbox/entry.ts';
import { askYesNo } from '../ask.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { byteSize } from '../render/byte-size.ts';
import { renderFiles, renderPreview } from '../render/preview.ts';
import { createStyle, plural } from '../render/style.ts';

interface PreviewOptions {
  readonly attempt?: string;
  /** False: the files that attempts had before them stay here. */
  readonly files: boolean;
  readonly json: boolean;
}

export async function outboxPreviewCommand(
  path: string,
  options: PreviewOptions & { readonly full: boolean; readonly allFiles: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const workspace = resolve(context.cwd, path);
  const preview = await openDesk(context).preview(workspace, wishOf(options));
  const style = createStyle(context.stdout, context.env);
  if (options.json) {
    const { content, ...summary } = preview;
    context.stdout.write(`${JSON.stringify(options.full ? preview : summary, null, 2)}\n`);
  } else if (options.allFiles) context.stdout.write(renderFiles(preview, style));
  else if (options.full) context.stdout.write(style.visible(preview.content));
  else context.stdout.write(renderPreview(preview, style));
  return EXIT.ok;
}

/** Nobody can allow what they were not shown: the preview comes first, always. */
export async function outboxAllowCommand(
  path: string,
  options: PreviewOptions & { readonly yes: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const workspace = resolve(context.cwd, path);
  const desk = openDesk(context);
  const preview = await desk.preview(workspace, wishOf(options));
  context.stderr.write(renderPreview(preview, createStyle(context.stderr, context.env)));
  const withFiles = preview.files?.kind === 'archive';
  const what = withFiles
    ? `attempts at ${workspace} like this one, and the files that they had before them,`
    : `attempts at ${workspace} like this one`;
  const question = `Allow that ${what} are sent to your training server, those made so far and later ones?`;
  const answer = options.yes || (await askYesNo(question, context));
  if (answer === undefined) {
    throw new Error(
      'nobody can be asked here: read the preview, then say --yes. Nothing is allowed.',
    );
  }
  if (!answer) {
    context.stderr.write('Nothing is allowed, nothing is sent.\n');
    return EXIT.notSolved;
  }
  await desk.allow(workspace, preview);
  if (options.json) {
    context.stdout.write(`${JSON.stringify({ workspace, allowed: true, files: withFiles })}\n`);
  } else {
    context.stdout.write(
      `Attempts at ${workspace} may be sent now, ${withFiles ? 'with' : 'without'} their files: prime-agent outbox send. Take it back with: prime-agent outbox deny\n`,
    );
  }
  return EXIT.ok;
}

export async function outboxDenyCommand(
  path: string,
  options: { readonly json: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const workspace = resolve(context.cwd, path);
  const { revoked, withdrawn } = await openDesk(context).deny(workspace);
  if (options.json) context.stdout.write(`${JSON.stringify({ workspace, revoked, withdrawn })}\n`);
  else {
    context.stdout.write(
      revoked
        ? `Nothing of ${workspace} is sent any more; ${plural(withdrawn, 'attempt')} that waited went. What was sent stays at the server.\n`
        : `Nothing of ${workspace} was allowed.\n`,
    );
  }
  return EXIT.ok;
}

export async function outboxListCommand(
  options: { readonly json: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const { consents, outbox } = openDesk(context);
  const [allowed, entries] = [await consents.list(), await outbox.list()];
  const { visible } = createStyle(context.stdout, context.env);
  if (options.json) {
    context.stdout.write(`${JSON.stringify({ allowed, entries }, null, 2)}\n`);
    return EXIT.ok;
  }
  if (allowed.length === 0) context.stdout.write('No workspace is allowed: nothing is sent.\n');
  for (const consent of allowed) {
    const { workspacePath, allowedAt } = consent;
    const files = coversFiles(consent) ? 'with files' : 'without files';
    context.stdout.write(
      `${visible(workspacePath)}  allowed ${allowedAt.slice(0, 10)}, ${files}\n`,
    );
  }
  for (const entry of entries) context.stdout.write(`${visible(entryLine(entry))}\n`);
  return EXIT.ok;
}

/** The very text that is sent, unpacked. */
export async function outboxShowCommand(id: string, context: CliContext): Promise<ExitCode> {
  const { outbox } = openDesk(context);
  const content = await outbox.content(knownId(id, await outbox.list()));
  if (!content) {
    context.stderr.write(
      `prime-agent: the bytes of ${id} are not here any more; \`prime-agent trajectories show ${id}\` shows the record\n`,
    );
    return EXIT.environment;
  }
  context.stdout.write(createStyle(context.stdout, context.env).visible(content.toString('utf8')));
  return EXIT.ok;
}

export async function outboxWithdrawCommand(
  ids: readonly string[],
  options: { readonly json: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const { outbox } = openDesk(context);
  const entries = await outbox.list();
  // All are known before any goes.
  const wanted = ids.map((id) => knownId(id, entries));
  const results: Record<string, string> = {};
  for (const id of wanted) results[id] = await outbox.withdraw(id);
  const sent = wanted.filter((id) => results[id] === 'sent');
  if (options.json) context.stdout.write(`${JSON.stringify({ results })}\n`);
  else {
    for (const id of wanted) {
      if (results[id] === 'sent') continue;
      context.stdout.write(`${id} is not sent; its record stays here.\n`);
    }
  }
  for (const id of sent) {
    context.stderr.write(
      `prime-agent: ${id} was sent already; an admin of the server can remove it (prime-agent data rm)\n`,
    );
  }
  return sent.length === 0 ? EXIT.ok : EXIT.notSolved;
}

function knownId(id: string, entries: readonly OutboxEntry[]): string {
  if (entries.some(({ attemptId }) => attemptId === id)) return id;
  throw new Error(
    `no attempt ${JSON.stringify(id.slice(0, 200))} is in the outbox; \`prime-agent outbox ls\` names them`,
  );
}

function wishOf({ attempt, files }: PreviewOptions) {
  return { attemptId: attempt, withFiles: files };
}

function entryLine(entry: OutboxEntry): string {
  return `${recordLine(entry)}${filesWords(entry)}`;
}

function filesWords({ files, state }: OutboxEntry): string {
  if (files === undefined || state.kind === 'withdrawn') return '';
  switch (files.kind) {
    case 'waiting': {
      const last = files.lastError ? ` (${files.lastError.message})` : '';
      return `; files wait, ${byteSize(files.bytes)}${last}`;
    }
    case 'sent':
      return '; files sent';
    case 'refused':
      return `; files refused: ${files.error.message}`;
    case 'none':
      return `; no files: ${files.reason}`;
  }
}

function recordLine({ attemptId, bytes, state }: OutboxEntry): string {
  switch (state.kind) {
    case 'waiting': {
      const last = state.lastError ? `  (${state.lastError.message})` : '';
      return `${attemptId}  waits  ${byteSize(bytes)}${last}`;
    }
    case 'sent':
      return `${attemptId}  sent ${state.at.slice(0, 10)}`;
    case 'refused':
      return `${attemptId}  refused  ${state.error.message}`;
    case 'withdrawn':
      return `${attemptId}  withdrawn ${state.at.slice(0, 10)}`;
  }
}
