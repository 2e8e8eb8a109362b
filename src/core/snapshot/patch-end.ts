import { Buffer } from 'node:buffer';

/**
 * Whether a patch that says how its file ends did so at the end of it.
 *
 * `git apply` (seen with 2.39) also takes a last line without a line break for one in the middle
 * of a longer file, and then glues the line behind to it. Such a patch does not fit.
 *
 * @param patch of one file
 * @param content what it came to
 */
export function endsWhereItSays(patch: string, content: Uint8Array): boolean {
  const lastHunk = patch.lastIndexOf('\n@@ ');
  const [, ...lines] = lastHunk < 0 ? [] : patch.slice(lastHunk + 1).split('\n');
  if (!lines.some((line) => line.startsWith('\\'))) return true;
  let end = '';
  let onNewSide = false;
  for (const line of lines) {
    if (line.startsWith('\\')) {
      if (onNewSide) end = end.slice(0, -1);
      continue;
    }
    onNewSide = line.startsWith(' ') || line.startsWith('+');
    if (onNewSide) end += `${line.slice(1)}\n`;
  }
  const found = Buffer.from(content);
  const wanted = Buffer.from(end);
  const from = found.length - wanted.length;
  const atLineStart = from === 0 || found[from - 1] === 0x0a;
  return from >= 0 && atLineStart && found.subarray(from).equals(wanted);
}
