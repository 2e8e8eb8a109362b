/** Tokens of Go, as far as they decide where a statement ends; everything else is one character. */
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)+'|[\p{L}_][\p{L}\p{Nd}_]*|\.?\d(?:[\w.]|(?<=[eEpP])[+-])*|\+\+|--|\n|[^\S\n]+|[\s\S]/gu;

/** Words after which a line may not end. `break`, `continue`, `fallthrough`, `return` may end one. */
const OPEN_WORDS = new Set(
  'case chan const default defer else for func go goto if import interface map package range select struct switch type var'.split(
    ' ',
  ),
);

const ENDS = /^(?:["`'\p{L}_)\]}]|\.?\d|\+\+$|--$)/u;

/**
 * The same text, place for place, for a parser that inserts semicolons only after some tokens and does
 * not know `for range`: every semicolon that Go's rule puts at the end of a line stands there, comments
 * are blanks, and so is the `range` behind a `for`.
 */
export function withSemicolons(text: string): string {
  let made = '';
  let ends = false;
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const isComment = token.startsWith('//') || token.startsWith('/*');
    if (token === '\n') {
      made += ends ? ';' : token;
      ends = false;
    } else if (isComment) {
      // A comment to the end of the line, or over several, is the end of its first line.
      const isEnd = ends && (token.startsWith('//') || token.includes('\n'));
      made += (isEnd ? ';' : ' ') + ' '.repeat(token.length - 1);
      if (isEnd) ends = false;
    } else if (/^[^\S\n]+$/.test(token)) {
      made += token;
    } else {
      made += token === 'range' && last === 'for' ? ' '.repeat(token.length) : token;
      ends = ENDS.test(token) && !OPEN_WORDS.has(token);
      last = token;
    }
  }
  return made;
}
