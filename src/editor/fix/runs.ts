import type * as vscode from 'vscode';

/** Work in one folder: at most one at a time, so that results cannot be mixed up. */
export interface Run {
  readonly folder: vscode.WorkspaceFolder;
  /** Aborts when the user cancels, or the extension stops. */
  readonly signal: AbortSignal;
  /** What happens now, in a few words, for the status bar. */
  say(text: string): void;
}

export interface ActiveRun {
  readonly folder: vscode.WorkspaceFolder;
  readonly text: string;
}

export interface Runs extends vscode.Disposable {
  readonly onDidChange: vscode.Event<void>;
  active(): readonly ActiveRun[];
  /** Does the work, unless the folder has some already. */
  start<Value>(
    folder: vscode.WorkspaceFolder,
    work: (run: Run) => Promise<Value>,
  ): Promise<{ readonly kind: 'done'; readonly value: Value } | { readonly kind: 'busy' }>;
  /** Without a folder: everything. */
  cancel(folder?: vscode.WorkspaceFolder): void;
  /** Cancels everything, and resolves when nothing is left behind. */
  stop(): Promise<void>;
}

interface Entry {
  readonly folder: vscode.WorkspaceFolder;
  readonly controller: AbortController;
  text: string;
  ended: Promise<unknown>;
}

export function createRuns(vs: typeof vscode): Runs {
  const changed = new vs.EventEmitter<void>();
  const entries = new Map<string, Entry>();

  const cancel = (folder?: vscode.WorkspaceFolder): void => {
    for (const entry of entries.values()) {
      if (folder === undefined || entry.folder.uri.toString() === folder.uri.toString()) {
        entry.controller.abort(new Error('cancelled in the editor'));
      }
    }
  };

  return {
    onDidChange: changed.event,
    active: () => [...entries.values()].map(({ folder, text }) => ({ folder, text })),
    cancel,
    async start(folder, work) {
      const key = folder.uri.toString();
      if (entries.has(key)) return { kind: 'busy' };
      const controller = new AbortController();
      const entry: Entry = { folder, controller, text: '', ended: Promise.resolve() };
      entries.set(key, entry);
      changed.fire();
      const working = work({
        folder,
        signal: controller.signal,
        say(text) {
          if (entry.text === text) return;
          entry.text = text;
          changed.fire();
        },
      }).finally(() => {
        entries.delete(key);
        changed.fire();
      });
      entry.ended = working.catch(() => undefined);
      return { kind: 'done', value: await working };
    },
    async stop() {
      const ended = [...entries.values()].map((entry) => entry.ended);
      cancel();
      await Promise.all(ended);
    },
    dispose() {
      cancel();
      changed.dispose();
    },
  };
}
