/**
 * Terminal output as plain text: what would be on the screen at the end, without what only a
 * terminal understands. The result holds no control characters but `\n` and `\t`, so cleaning it
 * again changes nothing.
 */

/**
 * Escape sequences (ECMA-48): CSI, then strings (OSC, DCS, SOS, PM, APC) up to their terminator or,
 * where that is missing, the end of the line, then charset and other two-part sequences.
 */
const ESCAPES = new RegExp(
  [
    '(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?',
    '(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d\\x9e\\x9f])[^\\x07\\x1b\\x9c\\n]*(?:\\x07|\\x1b\\\\|\\x9c)?',
    '\\x1b[ -/]*[0-~]?',
  ].join('|'),
  'g',
);

export function cleanOutput(text: string): string {
  return text
    .replace(ESCAPES, '')
    .split('\n')
    .map(lastState)
    .join('\n')
    .replace(/(?![\n\t])\p{Cc}/gu, '');
}

/** A line after its carriage returns (progress bars) and backspaces (spinners, man pages). */
function lastState(line: string): string {
  const states = line.split('\r');
  const last = states.findLast((state) => state !== '') ?? '';
  return last.includes('\b') ? applyBackspaces(last) : last;
}

/** Backspace moves left, and what follows is written over what was there. */
function applyBackspaces(line: string): string {
  const cells: string[] = [];
  let cursor = 0;
  for (const character of line) {
    if (character === '\b') cursor = Math.max(0, cursor - 1);
    else {
      cells[cursor] = character;
      cursor += 1;
    }
  }
  return cells.join('');
}
