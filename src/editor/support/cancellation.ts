import type * as vscode from 'vscode';

/**
 * Runs work whose signal aborts when the token is cancelled. The listener goes when the work ends.
 *
 * @param signals further reasons to stop
 */
export async function withSignal<Value>(
  token: vscode.CancellationToken,
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new Error('cancelled in the editor'));
  if (token.isCancellationRequested) abort();
  const subscription = token.onCancellationRequested(abort);
  try {
    return await work(AbortSignal.any([controller.signal, ...signals]));
  } finally {
    subscription.dispose();
  }
}
