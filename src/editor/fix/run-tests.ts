import type * as vscode from 'vscode';
import { isAnyChosen } from '../../core/frameworks/select.ts';
import { isFailing } from '../../core/frameworks/status.ts';
import { readSettings } from '../contract/settings.ts';
import type { PublishedTest, TestRunsPort } from '../ports.ts';
import { showMessage } from '../support/messages.ts';
import { chooseFolder } from '../workspace/folder.ts';
import { saveBeforeTest } from '../workspace/save.ts';
import { mayRun } from './consent.ts';
import type { WorkDeps } from './deps.ts';
import { tellProblem } from './ending.ts';
import { findFailing } from './find-failing.ts';
import { inProgress } from './in-progress.ts';
import { tellBusy } from './tell-busy.ts';

/** *Run tests*: publishes how things stand, and says it in one line. */
export async function runTestsCommand(deps: WorkDeps, uri?: vscode.Uri): Promise<void> {
  const { vs } = deps;
  const choice = await chooseFolder(vs, uri);
  if (choice.kind === 'none') return;
  if (choice.kind === 'refused') {
    return showMessage(vs, choice.level, choice.text, choice.actions);
  }
  await saveBeforeTest(vs, choice.folder);
  const tests = await createTestRuns(deps).run(choice.folder, []);
  if (tests === undefined) return;
  const failing = tests.filter(isFailing).length;
  const text =
    failing === 0
      ? vs.l10n.t('{0} tests, none fails.', tests.length)
      : vs.l10n.t('{0} tests, {1} failing.', tests.length, failing);
  const fix = {
    title: vs.l10n.t('Fix'),
    run: () => vs.commands.executeCommand('primeAgent.fixFailingTest', choice.folder.uri),
  };
  void showMessage(vs, 'information', text, failing === 0 ? [] : [fix]);
}

export function createTestRuns(deps: WorkDeps): TestRunsPort {
  const { vs, runs } = deps;
  return {
    async run(folder, tests) {
      const settings = readSettings(vs, folder.uri);
      if (!(await mayRun(deps, folder, settings))) return undefined;
      const started = await runs.start(folder, (run) =>
        inProgress(vs, run, vs.l10n.t('Running the tests'), (signal, say) =>
          findFailing(deps, folder, {
            settings,
            environment: deps.environment,
            runs: 1,
            signal,
            listener: (event) => {
              if (event.kind === 'progress') say(event.text);
            },
          }),
        ),
      );
      if (started.kind === 'busy') {
        tellBusy(vs, folder);
        return undefined;
      }
      const outcome = started.value;
      if (outcome.kind === 'problem') tellProblem(deps, outcome);
      if (outcome.kind !== 'found') return undefined;
      return outcome.tests.results
        .filter(({ id }) => isAnyChosen(id, tests))
        .map(({ id, status }): PublishedTest => ({ id, status }));
    },
  };
}
