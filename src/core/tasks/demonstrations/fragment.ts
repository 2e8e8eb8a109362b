import {
  isUnique,
  lineEnd,
  lineStart,
  type Replacement,
  toReplacement,
} from '../../policies/edit-search/replacement.ts';
import type { Edit } from '../operators/edit.ts';

/**
 * An edit as `str_replace` takes it: from the word that changes to the end of its line, or from a word
 * before where that alone is not unique in the file, or in whole lines.
 *
 * A small model that copies a whole line first and then once more with a change in it ends up with two
 * equal lines: at every word, going on is more likely than the change. Here the first word of
 * the new text is the change.
 *
 * @returns undefined: the file repeats itself so much that no few lines name the place
 */
export function toFragment(
  source: string,
  edit: Pick<Edit, 'from' | 'to' | 'newText'>,
  maxLines = 6,
): Replacement | undefined {
  const wholeLines = edit.to > edit.from && source[edit.to - 1] === '\n';
  const end = lineEnd(source, edit.to);
  for (const from of wholeLines ? [] : wordStarts(source, edit.from)) {
    const oldText = source.slice(from, end);
    if (oldText.trim() === '' || !isUnique(source, oldText)) continue;
    const newText = source.slice(from, edit.from) + edit.newText + source.slice(edit.to, end);
    return { oldText, newText };
  }
  return toReplacement(source, edit, maxLines);
}

/**
 * As the tokenizer splits texts before it merges (prime_learner/tokenizer.py): a fragment that begins
 * elsewhere has other tokens than the listing it was copied from.
 */
const WORD = /[\n\r\t]|\d| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?=\s)|\s/g;

/** Starts of the words of the line of `at`, the one that holds `at` first, then those before. */
function wordStarts(source: string, at: number): readonly number[] {
  const start = lineStart(source, at);
  const line = source.slice(start, lineEnd(source, at) + 1);
  return [...line.matchAll(WORD)]
    .map(({ index }) => start + index)
    .filter((from) => from <= at)
    .reverse();
}
