/** Marks a value that was empty: a line that holds nothing else is left out. */
const EMPTY = '\0';

/**
 * Source text from a template: the common indentation goes, a value of several lines is indented as
 * deep as its place, and a line that consists of an empty value is left out.
 */
export function code(
  strings: TemplateStringsArray,
  ...values: readonly (string | number)[]
): string {
  // As written, so that `\\n` and `\\d` of the source need no doubling.
  const raw = strings.raw.map((part) => part.replaceAll('\\`', '`').replaceAll('\\${', '${'));
  let text = raw[0] ?? '';
  for (const [at, value] of values.entries()) {
    const indent = /(?:^|\n)([ \t]*)[^\n]*$/.exec(text)?.[1] ?? '';
    const inner = String(value).replace(/\n(?!\n|$)/g, `\n${indent}`);
    text += (inner === '' ? EMPTY : inner) + (raw[at + 1] ?? '');
  }
  const lines = text
    .split('\n')
    .filter((line) => !(line.includes(EMPTY) && line.replaceAll(EMPTY, '').trim() === ''))
    .map((line) => line.replaceAll(EMPTY, '').trimEnd());
  const depths = lines
    .filter((line) => line !== '')
    .map((line) => line.length - line.trimStart().length);
  const depth = depths.length === 0 ? 0 : Math.min(...depths);
  return lines
    .map((line) => line.slice(depth))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+|\n+$/g, '');
}
