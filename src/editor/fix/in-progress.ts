import type * as vscode from 'vscode';
import { withSignal } from '../support/cancellation.ts';
import type { Run } from './runs.ts';

/** A notification that can be cancelled; the status bar says the same. */
export function inProgress<Value>(
  vs: typeof vscode,
  run: Run,
  title: string,
  work: (signal: AbortSignal, say: (text: string) => void) => Promise<Value>,
): Promise<Value> {
  run.say(title);
  return Promise.resolve(
    vs.window.withProgress(
      {
        location: vs.ProgressLocation.Notification,
        title: `Prime Agent: ${title}`,
        cancellable: true,
      },
      (progress, token) =>
        withSignal(token, [run.signal], (signal) =>
          work(signal, (message) => {
            progress.report({ message });
            run.say(`${title}: ${message}`);
          }),
        ),
    ),
  );
}
