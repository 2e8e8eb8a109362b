import type * as vscode from 'vscode';
import type { AttemptsPort } from '../ports.ts';
import { lazy } from '../support/lazy.ts';
import { createDebounce } from './debounce.ts';
import { isLive, type ListedAttempt, listedStart } from './listed.ts';
import type { Records } from './records.ts';

/**
 * The attempts of the open folders: those that run in this window as they go on, all others as their
 * records say. Reads nothing before `load`.
 */
export interface AttemptsModel extends AttemptsPort, vscode.Disposable {
  /** `undefined`: the list; else the attempt that goes on. */
  readonly onDidChange: vscode.Event<string | undefined>;
  /** Those of this window that go on, newest first. */
  running(): readonly ListedAttempt[];
  /** All others, newest first. Reads them the first time, and begins to watch their folders. */
  recorded(): Promise<readonly ListedAttempt[]>;
  find(attemptId: string): Promise<ListedAttempt | undefined>;
  /** Reads again what is new. */
  refresh(): Promise<void>;
}

/** Files change in bursts, events of an attempt many times a second. */
const FILES_MS = 300;
const EVENTS_MS = 250;

export function createAttemptsModel(
  vs: typeof vscode,
  log: Pick<vscode.LogOutputChannel, 'error'>,
  records: () => Promise<Pick<Records, 'list' | 'places'>>,
): AttemptsModel {
  const changed = new vs.EventEmitter<string | undefined>();
  const live = new Map<string, ListedAttempt>();
  /** Ended, but perhaps not in the list yet. */
  const ended = new Set<string>();
  let list: readonly ListedAttempt[] = [];
  let watchers: vscode.Disposable[] = [];
  let reading: Promise<void> = Promise.resolve();
  let loaded = false;

  const read = async (): Promise<void> => {
    const gone = [...ended];
    try {
      if (loaded) list = await (await records()).list(vs.workspace.workspaceFolders ?? []);
    } catch (error) {
      // The list stays as it was: the next change of the folder tries again.
      log.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    for (const id of gone) {
      ended.delete(id);
      live.delete(id);
    }
  };
  /** The next reading, if none began yet: however many ask meanwhile, it is one. */
  let waiting: Promise<void> | undefined;
  const refresh = (): Promise<void> => {
    waiting ??= reading.then(async () => {
      waiting = undefined;
      await read();
      changed.fire(undefined);
    });
    reading = waiting;
    return waiting;
  };

  const filesChanged = createDebounce(FILES_MS, () => void refresh());
  const watch = async (): Promise<void> => {
    for (const watcher of watchers) watcher.dispose();
    watchers = [];
    const { places } = await records();
    for (const folder of vs.workspace.workspaceFolders ?? []) {
      for (const place of await places(folder)) {
        const pattern = new vs.RelativePattern(vs.Uri.file(place), '*');
        const watcher = vs.workspace.createFileSystemWatcher(pattern);
        // An attempt of this window writes its record all the time, and says itself what it does.
        const heard = ({ path }: vscode.Uri): void => {
          const name = path.slice(path.lastIndexOf('/') + 1);
          if (!live.has(name.replace(/\.jsonl$/, ''))) filesChanged.call();
        };
        watchers.push(
          watcher,
          watcher.onDidCreate(heard),
          watcher.onDidChange(heard),
          watcher.onDidDelete(heard),
        );
      }
    }
  };
  const load = lazy(async () => {
    await watch();
    reading = reading.then(read);
    await reading;
  });

  let changedIds = new Set<string>();
  const eventsCame = createDebounce(EVENTS_MS, () => {
    const ids = changedIds;
    changedIds = new Set();
    for (const id of ids) if (live.has(id)) changed.fire(id);
  });
  const update = (attemptId: string, change: Partial<ListedAttempt>): void => {
    const before = live.get(attemptId);
    if (before === undefined || ended.has(attemptId)) return;
    live.set(attemptId, { ...before, ...change });
    changedIds.add(attemptId);
    eventsCame.call();
  };
  const folders = vs.workspace.onDidChangeWorkspaceFolders(async () => {
    if (!loaded) return;
    await watch();
    await refresh();
  });

  const recorded = async (): Promise<readonly ListedAttempt[]> => {
    loaded = true;
    await load();
    return list.filter(({ id }) => !live.has(id));
  };

  return {
    onDidChange: changed.event,
    running: () => [...live.values()].filter(isLive).reverse(),
    recorded,
    find: async (attemptId) =>
      live.get(attemptId) ?? (await recorded()).find(({ id }) => id === attemptId),
    refresh,
    started(attempt) {
      live.set(attempt.attemptId, listedStart(attempt));
      changed.fire(undefined);
    },
    turn(attemptId, event) {
      if (event.kind === 'turn') update(attemptId, { turns: event.index + 1, reason: '' });
      else if (event.kind === 'call') update(attemptId, { reason: event.call.name });
    },
    grading: (attemptId) => update(attemptId, { outcome: 'grading', reason: '' }),
    ended({ attemptId }) {
      if (!live.has(attemptId)) return;
      ended.add(attemptId);
      void refresh();
    },
    dispose() {
      folders.dispose();
      filesChanged.dispose();
      eventsCame.dispose();
      for (const watcher of watchers) watcher.dispose();
      changed.dispose();
    },
  };
}
