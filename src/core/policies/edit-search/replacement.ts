import type { Edit } from '../../tasks/operators/edit.ts';

/** An edit as `str_replace` takes it: whole lines, as many as make them unique. */
export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
}

/** undefined: the file repeats itself so much that no few lines name the place. */
export function toReplacement(source: string, edit: Edit, maxLines = 30): Replacement | undefined {
  let from = source.lastIndexOf('\n', edit.from - 1) + 1;
  let to = lineEnd(source, edit.to);
  for (let lines = 0; lines <= maxLines; lines++) {
    const oldText = source.slice(from, to);
    if (oldText.trim() !== '' && isUnique(source, oldText)) {
      const newText = source.slice(from, edit.from) + edit.newText + source.slice(edit.to, to);
      return { oldText, newText };
    }
    // In turn one line above and one line below.
    if (lines % 2 === 0 && from > 0) from = source.lastIndexOf('\n', from - 2) + 1;
    else to = lineEnd(source, Math.min(source.length, to + 1));
  }
  return undefined;
}

function lineEnd(source: string, at: number): number {
  // A range that ends with its line break has its whole line already.
  const end = source.indexOf('\n', at > 0 && source[at - 1] === '\n' ? at - 1 : at);
  return end < 0 ? source.length : end;
}

function isUnique(source: string, text: string): boolean {
  return source.indexOf(text) === source.lastIndexOf(text);
}
