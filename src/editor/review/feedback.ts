import type * as vscode from 'vscode';
import { hostRedactor } from '../../core/redaction/host.ts';
import {
  appendFeedback,
  type FeedbackFiles,
  type FeedbackLine,
} from '../../core/trajectories/feedback.ts';
import { lazy } from '../support/lazy.ts';
import type { Review, Unit } from './model.ts';

export interface FeedbackRecorder {
  decided(
    review: Review,
    kind: 'accepted' | 'discarded' | 'undone' | 'edited',
    units: readonly Unit[],
  ): void;
  tested(review: Review, passed: number, failed: number): void;
  /** Resolves when everything so far is written. */
  settled(): Promise<void>;
}

/** Writes what people do with a patch beside the records of its attempts. A failure is logged only. */
export function createFeedbackRecorder(
  log: vscode.LogOutputChannel,
  environment: Readonly<Record<string, string | undefined>>,
): FeedbackRecorder {
  const redactors = new Map<string, () => ReturnType<typeof hostRedactor>>();
  let queue: Promise<void> = Promise.resolve();

  const append = (review: Review, line: FeedbackLine): void => {
    const { attempts, folder } = review.input;
    const root = folder.uri.fsPath;
    const redactor =
      redactors.get(root) ??
      lazy(() => hostRedactor({ workspacePath: root, files: [], environment }));
    redactors.set(root, redactor);
    queue = queue.then(async () => {
      for (const { trajectoryPath } of attempts) {
        if (trajectoryPath === '') continue;
        try {
          await appendFeedback(trajectoryPath, line, await redactor());
        } catch (error) {
          log.warn(error instanceof Error ? error.message : String(error));
        }
      }
    });
  };
  const common = () => ({ type: 'feedback', version: 1, at: new Date().toISOString() }) as const;

  return {
    decided(review, kind, units) {
      if (units.length > 0) append(review, { ...common(), kind, files: filesOf(units) });
    },
    tested(review, passed, failed) {
      append(review, { ...common(), kind: 'tested', passed, failed });
    },
    settled: () => queue,
  };
}

function filesOf(units: readonly Unit[]): FeedbackFiles {
  const files = new Map<string, FeedbackFiles[number]>();
  for (const { file, index } of units) {
    const { path } = file.file;
    const known = files.get(path);
    const changes = [...(known?.changes ?? []), index];
    files.set(path, { path, changes, of: file.units.length });
  }
  return [...files.values()];
}
