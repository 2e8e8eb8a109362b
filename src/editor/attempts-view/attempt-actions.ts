import type * as vscode from 'vscode';
import type { Trajectory } from '../../core/trajectories/trajectory.ts';
import type { CommandId } from '../contract/commands.ts';
import type { FixTarget, PolicyChoice } from '../ports.ts';
import { outcomeWord, testName } from '../support/attempt-words.ts';
import { commandAction, showMessage } from '../support/messages.ts';
import type { VirtualDocuments } from '../support/virtual-documents.ts';
import type { Transcripts } from '../transcript/transcripts.ts';
import { testsText, timeText } from './attempt-item.ts';
import type { AttemptsModel } from './attempts-model.ts';
import type { AttemptsTree } from './attempts-tree.ts';
import { patchedFiles } from './diff.ts';
import type { DiffDocuments } from './diff-documents.ts';
import { askFormat, exportName, exportText } from './export.ts';
import { isLive, type ListedAttempt } from './listed.ts';
import type { Records } from './records.ts';

export interface ActionDeps {
  readonly vs: typeof vscode;
  readonly model: AttemptsModel;
  readonly tree: Pick<AttemptsTree, 'chosen'>;
  readonly records: Records;
  readonly transcripts: Transcripts;
  readonly documents: VirtualDocuments;
  readonly diffs: DiffDocuments;
}

type Args = readonly unknown[];

/** Attempts that are offered where none is named; older ones are in the view. */
const OFFERED = 200;
const FIX: CommandId = 'primeAgent.fixTest';
const WATCH: CommandId = 'primeAgent.watchAttempt';

export async function openTranscript(deps: ActionDeps, args: Args): Promise<void> {
  const attempt = await oneOf(deps, args);
  if (attempt === undefined) return;
  if (attempt.path === '') {
    await deps.vs.commands.executeCommand(WATCH, attempt.id);
    return;
  }
  await deps.transcripts.show({ trajectoryPath: attempt.path });
}

export async function openDiff(deps: ActionDeps, args: Args): Promise<void> {
  const { vs, documents, diffs } = deps;
  const attempt = await oneOf(deps, args);
  const trajectory = attempt && (await read(deps, attempt));
  if (!attempt || !trajectory) return;
  const patch = trajectory.end?.patch ?? '';
  if (patch === '') {
    void showMessage(vs, 'information', vs.l10n.t('This attempt has changed nothing.'));
    return;
  }
  const files = await patchedFiles(attempt.folder.uri, patch);
  const name = testsText(vs, attempt.targets);
  if (files) {
    await diffs.open(attempt.id, vs.l10n.t('Patch of the attempt at {0}', name), files);
    return;
  }
  // The files have moved on: the patch says what was changed then.
  await documents.open(`${attempt.id}.diff`, patch);
}

/** The same tests with the same policy, in the folder as it is now. */
export async function replay(deps: ActionDeps, args: Args): Promise<void> {
  const { vs } = deps;
  const attempt = await oneOf(deps, args);
  const trajectory = attempt && (await read(deps, attempt));
  if (!attempt || !trajectory) return;
  const policy = policyOf(trajectory);
  const target: FixTarget = {
    uri: attempt.folder.uri,
    tests: attempt.targets,
    ...(policy ? { policy } : {}),
  };
  await vs.commands.executeCommand(FIX, target);
}

export function policyOf({ header }: Trajectory): PolicyChoice | undefined {
  const { kind, model } = header.policy;
  switch (kind) {
    case 'edit-search':
      return { kind: 'edit-search' };
    case 'onnx':
      return { kind: 'nano' };
    case 'openai':
      return { kind: 'endpoint', model };
    case 'scripted':
      return undefined;
  }
}

export async function deleteAttempts(deps: ActionDeps, args: Args): Promise<void> {
  const { vs, tree, records, model } = deps;
  const attempts = tree.chosen(args).filter((attempt) => !isLive(attempt) && attempt.path !== '');
  const [first] = attempts;
  if (first === undefined) return;
  const text =
    attempts.length === 1
      ? vs.l10n.t(
          'Delete the record of the attempt at {0}?',
          testsText(vs, first.targets) || first.id,
        )
      : vs.l10n.t('Delete the records of {0} attempts?', attempts.length);
  const yes = vs.l10n.t('Delete');
  const detail = vs.l10n.t('Your files stay as they are. This cannot be undone.');
  if ((await vs.window.showWarningMessage(text, { modal: true, detail }, yes)) !== yes) return;
  await records.remove(attempts);
  await model.refresh();
}

export async function exportAttempts(deps: ActionDeps, args: Args): Promise<void> {
  const { vs, tree } = deps;
  const chosen = tree.chosen(args).filter(({ path }) => path !== '');
  const one = chosen.length > 0 ? undefined : await oneOf(deps, args);
  const attempts = one ? [one] : chosen;
  const [first] = attempts;
  if (first === undefined) return;
  const format = await askFormat(vs);
  if (format === undefined) return;
  const trajectories: Trajectory[] = [];
  for (const attempt of attempts) {
    const trajectory = await read(deps, attempt);
    if (trajectory) trajectories.push(trajectory);
  }
  if (trajectories.length === 0) return;
  const name = exportName(
    trajectories.map(({ header }) => header.attemptId),
    format,
  );
  const uri = await vs.window.showSaveDialog({
    defaultUri: vs.Uri.joinPath(first.folder.uri, name),
    title: vs.l10n.t('Export attempts'),
  });
  if (uri === undefined) return;
  await vs.workspace.fs.writeFile(uri, Buffer.from(exportText(trajectories, format)));
  const open = commandAction(vs, vs.l10n.t('Open'), 'vscode.open', uri);
  const text =
    trajectories.length === 1
      ? vs.l10n.t('The attempt was exported to {0}.', uri.fsPath)
      : vs.l10n.t('{0} attempts were exported to {1}.', trajectories.length, uri.fsPath);
  void showMessage(vs, 'information', text, [open]);
}

export async function copyIds({ vs, tree }: ActionDeps, args: Args): Promise<void> {
  const ids = tree.chosen(args).map(({ id }) => id);
  if (ids.length > 0) await vs.env.clipboard.writeText(ids.join('\n'));
}

/** The attempt that a command is about: of its argument, of the selection, or one that is chosen. */
async function oneOf(deps: ActionDeps, args: Args): Promise<ListedAttempt | undefined> {
  const { vs, model, tree } = deps;
  const [id] = args;
  if (typeof id === 'string') return model.find(id);
  const [chosen] = tree.chosen(args);
  if (chosen !== undefined) return chosen;
  const attempts = [...model.running(), ...(await model.recorded())].slice(0, OFFERED);
  if (attempts.length === 0) {
    void showMessage(
      vs,
      'information',
      vs.l10n.t('There is no attempt yet. “Fix failing test” makes some.'),
    );
    return undefined;
  }
  const items = attempts.map((attempt) => ({
    label: testsText(vs, attempt.targets) || attempt.id,
    description: [outcomeWord(vs.l10n, attempt.outcome), attempt.policy].join(' · '),
    detail: attempt.startedAt ? timeText(vs, attempt.startedAt) : attempt.reason,
    attempt,
  }));
  const options = { title: vs.l10n.t('Attempt'), matchOnDescription: true };
  return (await vs.window.showQuickPick(items, options))?.attempt;
}

/** undefined: it cannot be read, and that was said. */
async function read(
  { vs, records }: ActionDeps,
  attempt: ListedAttempt,
): Promise<Trajectory | undefined> {
  try {
    return await records.read(attempt);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    void showMessage(
      vs,
      'error',
      vs.l10n.t('The record of the attempt at {0} cannot be read: {1}', nameOf(attempt), why),
    );
    return undefined;
  }
}

function nameOf({ targets, id }: ListedAttempt): string {
  const [target] = targets;
  return target === undefined ? id : testName(target);
}
