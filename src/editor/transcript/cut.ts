/** A long text in two parts, with what lies between left out. */
export interface CutText {
  readonly head: string;
  /** 0: nothing was left out, and `tail` is empty. */
  readonly leftOut: number;
  readonly tail: string;
}

const MAX_LINES = 60;
const HEAD_LINES = 30;
const TAIL_LINES = 20;
/** One line can be a whole bundle. */
const MAX_LINE = 500;

/** @param whole nothing is cut */
export function cutText(text: string, whole: boolean): CutText {
  const plain = text.replace(/\n$/, '');
  if (whole) return { head: plain, leftOut: 0, tail: '' };
  const lines = plain.split('\n').map(shortened);
  if (lines.length <= MAX_LINES) return { head: lines.join('\n'), leftOut: 0, tail: '' };
  return {
    head: lines.slice(0, HEAD_LINES).join('\n'),
    leftOut: lines.length - HEAD_LINES - TAIL_LINES,
    tail: lines.slice(-TAIL_LINES).join('\n'),
  };
}

function shortened(line: string): string {
  if (line.length <= MAX_LINE) return line;
  return `${line.slice(0, MAX_LINE)} […]`;
}
