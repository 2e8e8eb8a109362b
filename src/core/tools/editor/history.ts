/** One edit, with what it takes to undo it. */
export interface PastEdit {
  /** Content before; undefined: the edit created the file. */
  readonly before: Uint8Array | undefined;
  /** Content after: an undo is refused when the file is not that any more. */
  readonly after: Uint8Array;
  /** Folders made for a created file, deepest first. Absolute. */
  readonly folders: readonly string[];
}

export interface EditHistory {
  push(realPath: string, edit: PastEdit): void;
  /** The last edit of this file that was not undone. */
  last(realPath: string): PastEdit | undefined;
  /** Takes the last edit off. */
  pop(realPath: string): void;
  /** Edits of this file that can be undone. */
  size(realPath: string): number;
}

/** @param maxBytes contents kept over all files; beyond it the oldest edits can no longer be undone. */
export function createEditHistory(maxBytes: number): EditHistory {
  const edits: { readonly realPath: string; readonly edit: PastEdit }[] = [];
  const ofFile = (realPath: string): typeof edits =>
    edits.filter((entry) => entry.realPath === realPath);
  return {
    push(realPath, edit) {
      edits.push({ realPath, edit });
      let bytes = edits.reduce((sum, entry) => sum + sizeOf(entry.edit), 0);
      while (bytes > maxBytes && edits.length > 1) bytes -= sizeOf(edits.shift()?.edit);
    },
    last: (realPath) => ofFile(realPath).at(-1)?.edit,
    pop(realPath) {
      const index = edits.findLastIndex((entry) => entry.realPath === realPath);
      if (index !== -1) edits.splice(index, 1);
    },
    size: (realPath) => ofFile(realPath).length,
  };
}

function sizeOf(edit: PastEdit | undefined): number {
  return edit ? edit.after.length + (edit.before?.length ?? 0) : 0;
}
