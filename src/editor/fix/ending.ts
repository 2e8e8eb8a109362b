import type * as vscode from 'vscode';
import type { FixOutcome, FixReport } from '../../core/fix/fix.ts';
import type { PrepareProblem } from '../../core/fix/prepare.ts';
import type { CommandId } from '../contract/commands.ts';
import type { AttemptReference, FixReviewInput } from '../ports.ts';
import {
  commandAction,
  type MessageAction,
  type MessageLevel,
  showMessage,
} from '../support/messages.ts';
import { inEditorWords } from '../support/words.ts';
import type { WorkDeps } from './deps.ts';

/** What it came to, in a message with the next steps. Shown without waiting for an answer. */
export function tellEnding(
  deps: WorkDeps,
  folder: vscode.WorkspaceFolder,
  outcome: FixOutcome,
  proposals: readonly FixReviewInput[],
  recordOf: (attemptId: string) => string,
): void {
  const { vs } = deps;
  switch (outcome.kind) {
    case 'problem':
      tellProblem(deps, outcome);
      break;
    case 'nothing-to-do':
      tell(deps, outcome.green ? 'information' : 'warning', outcome.reason, [showLog(vs)]);
      break;
    case 'cancelled':
      tellCancelled(deps, outcome.solved, recordOf);
      break;
    case 'done':
      tellReport(deps, folder, outcome.report, proposals, recordOf);
      break;
  }
}

function tellCancelled(
  deps: WorkDeps,
  solved: Extract<FixOutcome, { kind: 'cancelled' }>['solved'],
  recordOf: (attemptId: string) => string,
): void {
  const { l10n } = deps.vs;
  const text =
    solved.length === 0
      ? l10n.t('Cancelled. Nothing of yours was changed.')
      : l10n.t('Cancelled. Solved before that: {0}.', solved.map(({ id }) => id).join(', '));
  const records = solved.map(({ id, attemptId }) => ({
    attemptId,
    targets: [id],
    trajectoryPath: recordOf(attemptId),
  }));
  tell(deps, 'information', text, transcripts(deps, records));
}

/** @param kind with a problem of the policy another one is offered */
export function tellProblem(
  { vs, log }: Pick<WorkDeps, 'vs' | 'log'>,
  problem: PrepareProblem,
  kind: 'problem' | 'policy-problem' = 'problem',
): void {
  const text = inEditorWords(`${problem.reason} ${problem.remedy}`);
  log.error(text);
  void showMessage(vs, problem.cause === 'usage' ? 'warning' : 'error', shortened(text), [
    ...(kind === 'policy-problem' ? [selectPolicy(vs)] : []),
    ...settingsFor(vs, text),
    showLog(vs),
  ]);
}

function tellReport(
  deps: WorkDeps,
  folder: vscode.WorkspaceFolder,
  report: FixReport,
  proposals: readonly FixReviewInput[],
  recordOf: (attemptId: string) => string,
): void {
  const { vs, log } = deps;
  const solved = report.solved.length;
  const all = solved + report.unsolved.length;
  const why = report.unsolved.map(({ id, reason, remedy }) =>
    inEditorWords([`${id}: ${reason}.`, remedy].filter(Boolean).join(' ')),
  );
  for (const line of why) log.warn(line);
  const review = proposals.length > 0 ? [reviewAction(deps, proposals)] : [];
  const records = report.targets.flatMap(({ target, attempts }) =>
    attempts.map(
      ({ attemptId }): AttemptReference => ({
        attemptId,
        targets: [target.id],
        trajectoryPath: recordOf(attemptId),
      }),
    ),
  );
  const actions = [...review, ...transcripts(deps, bestFirst(report, records)), showLog(vs)];
  if (solved > 0) tell(deps, 'information', solvedText(vs, solved, all), actions);
  else if (proposals.length > 0) {
    const text = vs.l10n.t(
      'Solved only with changes to tests or configuration. Look at them before you take them.',
    );
    tell(deps, 'warning', text, actions);
  } else {
    const text = vs.l10n.t('Not solved in {0}. {1}', folder.name, why[0] ?? '');
    tell(deps, 'warning', shortened(text), [selectPolicy(vs), ...actions]);
  }
}

function solvedText({ l10n }: typeof vscode, solved: number, all: number): string {
  if (solved < all) {
    return l10n.t(
      '{0} of {1} failing tests pass with a change that is ready for review.',
      solved,
      all,
    );
  }
  return solved === 1
    ? l10n.t('The test passes with a change that is ready for review.')
    : l10n.t('All {0} tests pass with a change that is ready for review.', solved);
}

const SELECT_POLICY: CommandId = 'primeAgent.selectPolicy';
const SHOW_LOG: CommandId = 'primeAgent.showLog';

function reviewAction(deps: WorkDeps, proposals: readonly FixReviewInput[]): MessageAction {
  const { vs, review } = deps;
  return {
    title: vs.l10n.t('Review'),
    async run() {
      const [first] = proposals;
      if (first === undefined) return;
      if (proposals.length === 1) return review.open(first);
      const picked = await vs.window.showQuickPick(
        proposals.map((proposal) => ({
          label: proposal.tests
            .filter(({ after }) => after === 'passed')
            .map(({ id }) => id)
            .join(', '),
          description:
            proposal.outcome === 'solved'
              ? vs.l10n.t('solved')
              : vs.l10n.t('only with changes to tests or configuration'),
          proposal,
        })),
        { title: vs.l10n.t('Change to review') },
      );
      if (picked) await review.open(picked.proposal);
    },
  };
}

function transcripts(
  deps: WorkDeps,
  records: readonly AttemptReference[],
): readonly MessageAction[] {
  const { vs, transcript } = deps;
  const [first] = records;
  if (first === undefined) return [];
  return [{ title: vs.l10n.t('Show Transcript'), run: () => transcript.open(first) }];
}

/** The record that tells most comes first: of the attempt whose patch was taken. */
function bestFirst(
  { targets }: FixReport,
  records: readonly AttemptReference[],
): readonly AttemptReference[] {
  const best = new Set(targets.flatMap((target) => (target.best ? [target.best.attemptId] : [])));
  return [
    ...records.filter(({ attemptId }) => best.has(attemptId)),
    ...records.filter(({ attemptId }) => !best.has(attemptId)).reverse(),
  ];
}

/** The setting that the text names, if it names one. */
function settingsFor(vs: typeof vscode, text: string): readonly MessageAction[] {
  const name = /\bprimeAgent\.[\w.]*\w/.exec(text)?.[0];
  if (name === undefined) return [];
  return [commandAction(vs, vs.l10n.t('Open Settings'), 'workbench.action.openSettings', name)];
}

function selectPolicy(vs: typeof vscode): MessageAction {
  return commandAction(vs, vs.l10n.t('Select Policy…'), SELECT_POLICY);
}

function showLog(vs: typeof vscode): MessageAction {
  return commandAction(vs, vs.l10n.t('Show Log'), SHOW_LOG);
}

function tell(
  { vs, log }: WorkDeps,
  level: MessageLevel,
  text: string,
  actions: readonly MessageAction[],
): void {
  log.info(text);
  void showMessage(vs, level, text, actions);
}

/** Notifications show a few lines; the log has everything. */
function shortened(text: string): string {
  const line = text.replace(/\s*\n\s*/g, ' ');
  return line.length > 400 ? `${line.slice(0, 399)}…` : line;
}
