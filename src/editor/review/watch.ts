import type * as vscode from 'vscode';
import { readNow } from './current.ts';
import type { Review, ReviewedFile, Taken, Unit } from './model.ts';
import { sourceUri } from './open-review.ts';
import { stateOf, viewFile } from './view.ts';

export interface Watch extends vscode.Disposable {
  follow(review: Review): void;
  unfollow(review: Review): void;
  /** Looks at all files of a review now. */
  refresh(review: Review): Promise<void>;
  /** While we change files ourselves nothing is concluded from it. */
  holdWhile<Value>(work: () => Promise<Value>): Promise<Value>;
}

export interface WatchOptions {
  readonly vs: typeof vscode;
  readonly reviews: () => readonly Review[];
  readonly changed: () => void;
  readonly undone: (review: Review, units: readonly Unit[]) => void;
  readonly redone: (review: Review, units: readonly Unit[]) => void;
  /** A person has saved a file. */
  readonly saved: (uri: vscode.Uri, text: string) => void;
}

/** Typing comes in bursts. */
const QUIET_MS = 150;
const MOST_WATCHERS = 100;

/** Keeps reviews true to the files: typing, other programs, undo and redo. */
export function createWatch({ vs, reviews, changed, undone, redone, saved }: WatchOptions): Watch {
  const watchers = new Map<Review, vscode.Disposable>();
  const waiting = new Set<ReviewedFile>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let held = 0;

  const filesAt = (uri: vscode.Uri): readonly ReviewedFile[] => {
    const key = uri.toString();
    return reviews().flatMap(({ files }) =>
      files.filter(
        (file) =>
          file.uri.toString() === key ||
          sourceUri(vs, file.review.input.folder, file.part).toString() === key,
      ),
    );
  };

  const look = async (file: ReviewedFile): Promise<void> => {
    const { review } = file;
    const now = await readNow(vs, sourceUri(vs, review.input.folder, file.part));
    const state = stateOf(now);
    const last = file.taken.at(-1);
    const next = file.undone.at(-1);
    if (last && state === last.before && state !== last.after) {
      move(file.taken, file.undone, 'open');
      undone(review, last.units);
    } else if (next && state === next.after && state !== next.before) {
      move(file.undone, file.taken, 'accepted');
      redone(review, next.units);
    }
    file.view = viewFile(file, now);
  };

  const later = (files: readonly ReviewedFile[]): void => {
    if (files.length === 0) return;
    for (const file of files) waiting.add(file);
    clearTimeout(timer);
    timer = setTimeout(() => void lookAtWaiting(), QUIET_MS);
  };

  const lookAtWaiting = async (): Promise<void> => {
    if (held > 0) return;
    const files = [...waiting];
    waiting.clear();
    for (const file of files) await look(file);
    changed();
  };

  const parts = vs.Disposable.from(
    vs.workspace.onDidChangeTextDocument(({ document }) => later(filesAt(document.uri))),
    vs.workspace.onDidSaveTextDocument(async (document) => {
      if (held > 0) return;
      const files = filesAt(document.uri);
      for (const file of files) await look(file);
      saved(document.uri, document.getText());
      if (files.length > 0) changed();
    }),
    vs.workspace.onDidCloseTextDocument((document) => later(filesAt(document.uri))),
  );

  return {
    follow(review) {
      const { folder } = review.input;
      const made = review.files.slice(0, MOST_WATCHERS).map(({ file }) => {
        const pattern = file.path.replace(/[[\]{}*?]/g, '[$&]');
        const watcher = vs.workspace.createFileSystemWatcher(
          new vs.RelativePattern(folder, pattern),
        );
        const look = (uri: vscode.Uri): void => later(filesAt(uri));
        watcher.onDidChange(look);
        watcher.onDidCreate(look);
        watcher.onDidDelete(look);
        return watcher;
      });
      watchers.set(review, vs.Disposable.from(...made));
    },
    unfollow(review) {
      watchers.get(review)?.dispose();
      watchers.delete(review);
    },
    async refresh(review) {
      for (const file of review.files) await look(file);
      changed();
    },
    async holdWhile(work) {
      held += 1;
      try {
        return await work();
      } finally {
        held -= 1;
        if (waiting.size > 0) later([...waiting]);
      }
    },
    dispose() {
      clearTimeout(timer);
      parts.dispose();
      for (const watcher of watchers.values()) watcher.dispose();
    },
  };
}

function move(from: Taken[], to: Taken[], decision: Unit['decision']): void {
  const step = from.pop();
  if (!step) return;
  for (const unit of step.units) unit.decision = decision;
  to.push(step);
}
