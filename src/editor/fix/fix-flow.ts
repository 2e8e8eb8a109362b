import type * as vscode from 'vscode';
import { defaultAttempts, defaultParallel } from '../../core/fix/defaults.ts';
import { type FixOutcome, fixFailingTests } from '../../core/fix/fix.ts';
import { notLoadable } from '../../core/fix/not-loadable.ts';
import type { PrepareProblem } from '../../core/fix/prepare.ts';
import type { Policy } from '../../core/policies/policy.ts';
import { trajectoriesRoot } from '../../core/trajectories/folder.ts';
import type { Budgets } from '../../core/trajectories/schema.ts';
import { createTrajectoryStore } from '../../core/trajectories/store.ts';
import { readSettings, type Settings } from '../contract/settings.ts';
import { openPolicy } from '../policies/open-policy.ts';
import { watchAttention } from '../support/attention.ts';
import { showMessage } from '../support/messages.ts';
import { chooseFolder, isWritable } from '../workspace/folder.ts';
import { saveBeforeTest } from '../workspace/save.ts';
import { chooseTests } from './choose-tests.ts';
import { mayRun } from './consent.ts';
import type { WorkDeps } from './deps.ts';
import { tellEnding, tellProblem } from './ending.ts';
import { type FoundOutcome, findFailing } from './find-failing.ts';
import { followFix } from './follow.ts';
import { inProgress } from './in-progress.ts';
import { proposalsOf } from './proposals.ts';
import type { FixRequest } from './request.ts';
import type { Run } from './runs.ts';
import { tellBusy } from './tell-busy.ts';

/** From a request to the message that says what it came to. Changes nothing of the user's. */
export async function fixTests(deps: WorkDeps, request: FixRequest): Promise<void> {
  const { vs, runs } = deps;
  const choice = await chooseFolder(vs, request.uri);
  if (choice.kind === 'none') return;
  if (choice.kind === 'refused') {
    return showMessage(vs, choice.level, choice.text, choice.actions);
  }
  const { folder } = choice;
  const settings = withPolicy(readSettings(vs, folder.uri), request.policy);
  if (!(await confirmed(deps, folder, settings))) return;
  await saveBeforeTest(vs, folder);
  const started = await runs.start(folder, async (run) => {
    const policies: Policy[] = [];
    try {
      await work(deps, request, run, settings, policies);
    } finally {
      for (const policy of policies) await policy.close?.();
    }
  });
  if (started.kind === 'busy') tellBusy(vs, folder);
}

function withPolicy(settings: Settings, chosen: FixRequest['policy']): Settings {
  if (chosen === undefined) return settings;
  const { kind, model = settings.endpoint.model } = chosen;
  return { ...settings, policy: kind, endpoint: { ...settings.endpoint, model } };
}

async function confirmed(
  deps: WorkDeps,
  folder: vscode.WorkspaceFolder,
  settings: Settings,
): Promise<boolean> {
  const { vs } = deps;
  if (!(await mayRun(deps, folder, settings))) return false;
  if (await isWritable(vs, folder)) return true;
  const goOn = vs.l10n.t('Look for a Fix');
  const answer = await vs.window.showWarningMessage(
    vs.l10n.t(
      '{0} is read-only. A fix can be found and shown, but not applied. Open a writable copy to apply it.',
      folder.name,
    ),
    goOn,
  );
  return answer === goOn;
}

async function work(
  deps: WorkDeps,
  request: FixRequest,
  run: Run,
  settings: Settings,
  /** Filled here, closed by the caller. */
  policies: Policy[],
): Promise<void> {
  const { vs, log } = deps;
  const { folder } = run;
  log.info(`fix in ${folder.uri.fsPath}`);
  const attention = watchAttention(vs);
  const ready = await inProgress(vs, run, vs.l10n.t('Looking for failing tests'), (signal, say) =>
    prepare(deps, folder, settings, policies, signal, say),
  ).finally(() => attention.dispose());
  if (ready.kind === 'cancelled') {
    log.info('cancelled');
    return;
  }
  if (ready.kind === 'problem' || ready.kind === 'policy-problem') {
    tellProblem(deps, ready.kind === 'problem' ? ready : ready.problem, ready.kind);
    return;
  }
  const { tests } = ready;
  if (tests.failing.length === 0) {
    tellNothingFails(deps, tests);
    return;
  }

  run.say(vs.l10n.t('waiting for your choice'));
  if (request.selectors.length === 0 && attention.isElsewhere()) {
    if (!(await wantsToChoose(vs, tests.failing.length, run.signal))) return;
  }
  const chosen = await chooseTests(vs, folder, request, tests, run.signal);
  if (chosen.kind === 'none') return;
  if (chosen.kind === 'nothing') {
    const choose = {
      title: vs.l10n.t('Choose a Failing Test'),
      run: () => fixTests(deps, { uri: folder.uri, selectors: [] }),
    };
    void showMessage(vs, 'information', chosen.text, [choose]);
    return;
  }

  const hint = request.askForHint === true ? await askForHint(vs) : '';
  if (hint === undefined) return;
  const title =
    chosen.ids.length === 1
      ? vs.l10n.t('Fixing a test')
      : vs.l10n.t('Fixing {0} tests', chosen.ids.length);
  const records = new Map<string, string>();
  const recordOf = (attemptId: string): string => records.get(attemptId) ?? '';
  const label = ready.policy.description.label;
  const outcome = await inProgress(vs, run, title, (signal, say) =>
    attempt(deps, { ...ready, ids: chosen.ids, hint, settings, folder, signal, say, records }),
  );
  const proposals =
    outcome.kind === 'done'
      ? proposalsOf(outcome.report, { folder, policy: label, baselines: tests.baselines, recordOf })
      : [];
  tellEnding(deps, folder, outcome, proposals, recordOf);
}

/** A list would take the keyboard from whoever types: it waits behind a message. */
async function wantsToChoose(
  { window, l10n }: typeof vscode,
  failing: number,
  signal: AbortSignal,
): Promise<boolean> {
  const choose = l10n.t('Choose…');
  const text = failing === 1 ? l10n.t('One test fails.') : l10n.t('{0} tests fail.', failing);
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  return (await Promise.race([window.showInformationMessage(text, choose), aborted])) === choose;
}

/** undefined: the user gave up; empty: nothing to say. */
async function askForHint({ window, l10n }: typeof vscode): Promise<string | undefined> {
  const typed = await window.showInputBox({
    title: l10n.t('What do you already know about the failure?'),
    prompt: l10n.t('The agent reads it with the failing test.'),
    ignoreFocusOut: true,
  });
  return typed?.trim();
}

type Found = Extract<FoundOutcome, { kind: 'found' }>;
type Ready =
  | (Omit<Found, 'kind'> & {
      readonly kind: 'ready';
      readonly policy: Policy;
      readonly environment: WorkDeps['environment'];
    })
  | { readonly kind: 'policy-problem'; readonly problem: PrepareProblem }
  | Exclude<FoundOutcome, Found>;

/** The policy first: a server that does not answer should be known before the tests run. */
async function prepare(
  deps: WorkDeps,
  folder: vscode.WorkspaceFolder,
  settings: Settings,
  policies: Policy[],
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<Ready> {
  const { log, keys } = deps;
  try {
    const opened = await openPolicy({
      settings,
      keys,
      environment: deps.environment,
      signal,
      onNotice: (text) => log.warn(text),
    });
    if (opened.kind === 'problem') return { kind: 'policy-problem', problem: opened };
    const { policy, environment } = opened;
    policies.push(policy);
    const listener = follow(deps, folder, policy, say, new Map());
    const found = await findFailing(deps, folder, {
      settings,
      environment,
      runs: 2,
      signal,
      listener,
    });
    return found.kind === 'found' ? { ...found, kind: 'ready', policy, environment } : found;
  } catch (error) {
    if (signal.aborted) return { kind: 'cancelled' };
    throw error;
  }
}

interface AttemptOptions extends Omit<Extract<Ready, { kind: 'ready' }>, 'kind'> {
  readonly ids: readonly string[];
  /** Empty: none. */
  readonly hint: string;
  readonly settings: Settings;
  readonly folder: vscode.WorkspaceFolder;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  /** Attempt id → path of its record; filled here. */
  readonly records: Map<string, string>;
}

async function attempt(deps: WorkDeps, options: AttemptOptions): Promise<FixOutcome> {
  const { job, tests, policy, environment, ids, hint, settings, folder, signal, say, records } =
    options;
  const store = createTrajectoryStore(trajectoriesRoot(environment));
  try {
    return await fixFailingTests({
      projects: job.projects,
      baselines: tests.baselines,
      tests: ids,
      ...(hint === '' ? {} : { hint }),
      policy,
      budgets: budgetsOf(settings),
      attempts: settings.attempts ?? defaultAttempts(policy.description),
      parallel: settings.parallel ?? defaultParallel(),
      parity: settings.parity,
      environment,
      redactor: job.redactor,
      openSink: async (attemptId) => {
        const writer = await store.create({
          workspacePath: job.root,
          attemptId,
          redactor: job.redactor,
        });
        records.set(attemptId, writer.path);
        return writer;
      },
      signal,
      listener: follow(deps, folder, policy, say, records),
    });
  } catch (error) {
    if (signal.aborted) return { kind: 'cancelled', solved: [] };
    throw error;
  } finally {
    // Old records that stay are no reason to lose a result.
    await store.prune().catch((error: unknown) => deps.log.warn(`records: ${String(error)}`));
  }
}

function follow(
  { vs, log, attempts }: WorkDeps,
  folder: vscode.WorkspaceFolder,
  policy: Policy,
  say: (text: string) => void,
  records: ReadonlyMap<string, string>,
) {
  return followFix({
    vs,
    log,
    folder,
    policy: policy.description.label,
    attempts,
    recordOf: (attemptId) => records.get(attemptId) ?? '',
    say,
  });
}

function budgetsOf({ maxTurns, maxMinutes, maxReplyTokens }: Settings): Partial<Budgets> {
  return {
    ...(maxTurns === undefined ? {} : { turns: maxTurns }),
    ...(maxMinutes === undefined ? {} : { timeMs: Math.round(maxMinutes * 60_000) }),
    ...(maxReplyTokens === undefined ? {} : { replyTokens: maxReplyTokens }),
  };
}

function tellNothingFails(deps: WorkDeps, tests: Found['tests']): void {
  const { vs } = deps;
  if (tests.collectionErrors.length > 0) {
    tellProblem(deps, notLoadable(tests.collectionErrors));
    return;
  }
  const counts = vs.l10n.t('{0} of {1} pass', tests.passing, tests.results.length);
  const text =
    tests.flaky.length === 0
      ? vs.l10n.t('No test fails: {0}.', counts)
      : vs.l10n.t('No test fails every time: {0}. Flaky: {1}.', counts, tests.flaky.join(', '));
  void showMessage(vs, 'information', text);
}
