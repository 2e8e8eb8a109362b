import type { Edit } from '../../tasks/operators/edit.ts';

/** An edit as `str_replace` takes it: whole lines, as many as make them unique. */
export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
}

/** undefined: the file repeats itself so much that no few lines name the place. */
export function toReplacement(
  source: string,
  edit: Pick<Edit, 'from' | 'to' | 'newText'>,
  maxLines = 30,
): Replacement | undefined {
  let from = lineStart(source, edit.from);
  // An edit that takes a line break along ends there; the next line stays out.
  const wholeLines = edit.to > edit.from && source[edit.to - 1] === '\n';
  let to = wholeLines ? edit.to : lineEnd(source, edit.to);
  for (let lines = 0; lines <= maxLines; lines++) {
    const oldText = source.slice(from, to);
    if (oldText.trim() !== '' && isUnique(source, oldText)) {
      const newText = source.slice(from, edit.from) + edit.newText + source.slice(edit.to, to);
      return { oldText, newText };
    }
    // In turn one line above and one line below.
    if (lines % 2 === 0 && from > 0) from = lineStart(source, from - 1);
    else
      to = lineEnd(source, source[to - 1] === '\n' && wholeLines && to === edit.to ? to : to + 1);
  }
  return undefined;
}

export function lineStart(source: string, at: number): number {
  // A negative position would count as 0 and find a line break there.
  return at <= 0 ? 0 : source.lastIndexOf('\n', at - 1) + 1;
}

export function lineEnd(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end < 0 ? source.length : end;
}

export function isUnique(source: string, text: string): boolean {
  return source.indexOf(text) === source.lastIndexOf(text);
}
