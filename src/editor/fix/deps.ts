import type * as vscode from 'vscode';
import type { Keys } from '../policies/keys.ts';
import type { AttemptsPort, ReviewPort, TranscriptPort } from '../ports.ts';
import type { TestReport } from '../tests/publish.ts';
import type { Runs } from './runs.ts';

/** What the work on a folder needs from the rest of the extension. */
export interface WorkDeps {
  readonly vs: typeof vscode;
  readonly log: vscode.LogOutputChannel;
  readonly runs: Runs;
  readonly keys: Keys;
  /** The host's variables, for example `process.env`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Remembers consents per workspace. */
  readonly memento: vscode.Memento;
  readonly publish: (folder: vscode.WorkspaceFolder, report: TestReport) => void;
  readonly attempts: AttemptsPort;
  readonly review: ReviewPort;
  readonly transcript: TranscriptPort;
}
