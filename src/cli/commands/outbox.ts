import type { OutboxEntry } from '../../core/outbox/entry.ts';
import { workspaceFolder } from '../../core/trajectories/folder.ts';
import { askYesNo } from '../ask.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { byteSize } from '../render/byte-size.ts';
import { renderPreview } from '../render/preview.ts';
import { createStyle, plural } from '../render/style.ts';
import { choosePreview, outboxParts, workspaceAt } from './outbox-parts.ts';

interface PreviewOptions {
  readonly attempt?: string;
  readonly json: boolean;
}

export async function outboxPreviewCommand(
  path: string,
  options: PreviewOptions & { readonly full: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const workspace = workspaceAt(path, context);
  const preview = await choosePreview(workspace, options.attempt, outboxParts(context), context);
  const style = createStyle(context.stdout, context.env);
  if (options.json) {
    const { content, ...summary } = preview;
    context.stdout.write(`${JSON.stringify(options.full ? preview : summary, null, 2)}\n`);
  } else if (options.full) context.stdout.write(style.visible(preview.content));
  else context.stdout.write(renderPreview(preview, style));
  return EXIT.ok;
}

/** Nobody can allow what they were not shown: the preview comes first, always. */
export async function outboxAllowCommand(
  path: string,
  options: PreviewOptions & { readonly yes: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const workspace = workspaceAt(path, context);
  const parts = outboxParts(context);
  const preview = await choosePreview(workspace, options.attempt, parts, context);
  context.stderr.write(renderPreview(preview, createStyle(context.stderr, context.env)));
  const question = `Allow that attempts at ${workspace} like this one are sent to your training server, those made so far and later ones?`;
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
  await parts.consents.allow(workspace, preview);
  if (options.json) context.stdout.write(`${JSON.stringify({ workspace, allowed: true })}\n`);
  else {
    context.stdout.write(
      `Attempts at ${workspace} may be sent now: prime-agent outbox send. Take it back with: prime-agent outbox deny\n`,
    );
  }
  return EXIT.ok;
}

export async function outboxDenyCommand(
  path: string,
  options: { readonly json: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const workspace = workspaceAt(path, context);
  const { consents, outbox } = outboxParts(context);
  const revoked = await consents.revoke(workspace);
  const withdrawn = await outbox.forget(workspaceFolder(workspace));
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
  const { consents, outbox } = outboxParts(context);
  const [allowed, entries] = [await consents.list(), await outbox.list()];
  const { visible } = createStyle(context.stdout, context.env);
  if (options.json) {
    context.stdout.write(`${JSON.stringify({ allowed, entries }, null, 2)}\n`);
    return EXIT.ok;
  }
  if (allowed.length === 0) context.stdout.write('No workspace is allowed: nothing is sent.\n');
  for (const { workspacePath, allowedAt } of allowed) {
    context.stdout.write(`${visible(workspacePath)}  allowed ${allowedAt.slice(0, 10)}\n`);
  }
  for (const entry of entries) context.stdout.write(`${visible(entryLine(entry))}\n`);
  return EXIT.ok;
}

/** The very text that is sent, unpacked. */
export async function outboxShowCommand(id: string, context: CliContext): Promise<ExitCode> {
  const { outbox } = outboxParts(context);
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
  const { outbox } = outboxParts(context);
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

function entryLine({ attemptId, bytes, state }: OutboxEntry): string {
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
