/**
 * Where a test is now: the line that names it, nearest to where the last run found it. People edit
 * between two runs.
 *
 * @param lines of the file as it is shown
 * @param known 1-based, from the last run
 * @returns 0-based, inside of the file
 */
export function currentLine(
  lines: readonly string[],
  name: string,
  known: number | undefined,
): number {
  const start = Math.min(Math.max(0, (known ?? 1) - 1), Math.max(0, lines.length - 1));
  const word = name.replace(/\[.*\]$/s, '');
  for (let distance = 0; distance < lines.length; distance += 1) {
    for (const line of [start - distance, start + distance]) {
      if (lines[line]?.includes(word)) return line;
    }
  }
  return start;
}
