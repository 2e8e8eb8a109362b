import { escapeControls } from '../../core/platform/escape-controls.ts';

/** East Asian wide characters and emoji take two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : 1;
  return width;
}

/** The beginning of a text, as one line of at most `columns`; a cut is shown by `…`. */
export function fitLine(text: string, columns: number): string {
  const line = escapeControls(text.replace(/\s+/g, ' '));
  if (widthOf(line) <= columns) return line;
  let kept = '';
  let width = 0;
  for (const character of line) {
    width += widthOf(character);
    // One column stays for the `…`.
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Breaks one line between words; a word that is longer than a line stays whole. */
export function wrapLine(text: string, columns: number, indent: string): string {
  const lines: string[] = [];
  let line = /^ */.exec(text)?.[0] ?? '';
  let empty = true;
  for (const word of text.trim().split(' ')) {
    if (!empty && widthOf(line) + 1 + widthOf(word) > columns) {
      lines.push(line);
      line = indent;
      empty = true;
    }
    line += empty ? word : ` ${word}`;
    empty = false;
  }
  return [...lines, line].join('\n');
}
