import { notLoadable } from '../../core/fix/not-loadable.ts';
import type { Policy } from '../../core/policies/policy.ts';
import { readSettings, type Settings } from '../contract/settings.ts';
import { watchAttention } from '../support/attention.ts';
import { showMessage } from '../support/messages.ts';
import { chooseFolder } from '../workspace/folder.ts';
import { saveBeforeTest } from '../workspace/save.ts';
import { chooseTests } from './choose-tests.ts';
import type { WorkDeps } from './deps.ts';
import { tellEnding, tellProblem } from './ending.ts';
import type { FoundOutcome } from './find-failing.ts';
import { inProgress } from './in-progress.ts';
import { makeAttempts } from './make-attempts.ts';
import { prepareFix } from './prepare-fix.ts';
import { proposalsOf } from './proposals.ts';
import { askForHint, confirmed, wantsToChoose } from './questions.ts';
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
    prepareFix(deps, folder, settings, policies, signal, say),
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
    makeAttempts(deps, { ...ready, ids: chosen.ids, hint, settings, folder, signal, say, records }),
  );
  const proposals =
    outcome.kind === 'done'
      ? proposalsOf(outcome.report, { folder, policy: label, baselines: tests.baselines, recordOf })
      : [];
  tellEnding(deps, folder, outcome, proposals, recordOf);
}

function tellNothingFails(
  deps: WorkDeps,
  tests: Extract<FoundOutcome, { kind: 'found' }>['tests'],
): void {
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
