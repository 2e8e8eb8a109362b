import type { ToolCall } from './messages.ts';

/** What a policy has done to the files so far, apart from looking at them. */
export interface Effort {
  /** Calls of the editor that changed a file; taking an edit back is none. */
  readonly edits: number;
  /** Calls of `run_tests`. */
  readonly testRuns: number;
  /**
   * States of the files other than the first one that were tested or handed in. A state that comes
   * back, since an edit was taken back and made again, is no new try.
   */
  readonly tries: number;
}

export interface TryCounter {
  /** A call came to an end. @param changed files that it changed, as in `ToolDetail`. */
  observe(call: ToolCall, changed: readonly string[] | undefined): void;
  /** Would this call, made now, be one more try? */
  isNewTry(call: ToolCall): boolean;
  effort(): Effort;
}

/**
 * Counts tries: policies are compared at equal numbers of them (docs/evaluation.md). The state of
 * the files is known from the edits that were made and not taken back, so what `bash` does to files
 * is not seen: an edit by `sed -i` counts with the next one of the editor, or not at all.
 */
export function createTryCounter(): TryCounter {
  /** Per file all edits that are not undone, the latest last: the editor's own history. */
  const files = new Map<string, ToolCall['arguments'][]>();
  const tried = new Set<string>();
  let edits = 0;
  let testRuns = 0;

  const state = (): string => {
    const changed = [...files]
      .map(([path, made]) => [path, withoutReversals(made)] as const)
      .filter(([, made]) => made.length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return changed.length === 0 ? '' : JSON.stringify(changed);
  };
  const isNewTry = (call: ToolCall): boolean => {
    if (call.name !== 'run_tests' && call.name !== 'submit') return false;
    const now = state();
    return now !== '' && !tried.has(now);
  };

  return {
    isNewTry,
    observe(call, changed) {
      if (call.name === 'run_tests') testRuns += 1;
      if (isNewTry(call)) tried.add(state());
      const [path] = changed ?? [];
      if (call.name !== 'str_replace_editor' || path === undefined) return;
      const made = files.get(path) ?? [];
      if (call.arguments.command === 'undo_edit') {
        made.pop();
        return;
      }
      edits += 1;
      files.set(path, [...made, { ...call.arguments, path }]);
    },
    effort: () => ({ edits, testRuns, tries: tried.size }),
  };
}

/** An edit and the one that puts the old text back right after it leave the file as it was. */
function withoutReversals(
  made: readonly ToolCall['arguments'][],
): readonly ToolCall['arguments'][] {
  const left: ToolCall['arguments'][] = [];
  for (const edit of made) {
    const last = left.at(-1);
    const reverses =
      edit.command === 'str_replace' &&
      last?.command === 'str_replace' &&
      edit.old_str === last.new_str &&
      edit.new_str === last.old_str;
    if (reverses) left.pop();
    else left.push(edit);
  }
  return left;
}
