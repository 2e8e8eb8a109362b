/** Control characters other than line ends and tabs, C1 controls, and marks that reorder text. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text that cannot move the cursor, set colours or hide itself: `\x1b` instead of an escape. */
export function escapeControls(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(CONTROLS, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

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
