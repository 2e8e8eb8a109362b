/**
 * Sections of INI and TOML files as text, so that some can be put back while the rest keeps its
 * formatting, comments and order.
 */

interface Section {
  /** Text between the brackets; undefined: before the first header. */
  readonly name: string | undefined;
  /** Lines with their endings, header included. */
  readonly lines: readonly string[];
}

/** `toml`: lines inside of multi-line strings are no headers. */
export function splitSections(text: string, toml: boolean): readonly Section[] {
  const sections: { name: string | undefined; lines: string[] }[] = [
    { name: undefined, lines: [] },
  ];
  let quote: string | undefined;
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const header = quote === undefined ? /^\s*\[+\s*([^\]]+?)\s*\]/.exec(line) : null;
    const isHeader = header && (toml || !/^\s/.test(line));
    if (isHeader) sections.push({ name: normalName(header[1] ?? ''), lines: [line] });
    else sections.at(-1)?.lines.push(line);
    if (toml) quote = openQuote(line, quote);
  }
  return sections;
}

function normalName(name: string): string {
  return name.replace(/\s*\.\s*/g, '.').replace(/["']/g, '');
}

/** Is a multi-line string open at the end of the line? */
function openQuote(line: string, open: string | undefined): string | undefined {
  let quote = open;
  for (let index = 0; index < line.length; ) {
    if (quote !== undefined) {
      if (quote === '"""' && line[index] === '\\') index += 2;
      else if (line.startsWith(quote, index)) {
        index += 3;
        quote = undefined;
      } else index += 1;
    } else if (line.startsWith('"""', index) || line.startsWith("'''", index)) {
      quote = line.slice(index, index + 3);
      index += 3;
    } else if (line[index] === '"' || line[index] === "'") {
      index = endOfString(line, index);
    } else if (line[index] === '#') return undefined;
    else index += 1;
  }
  return quote;
}

function endOfString(line: string, start: number): number {
  const mark = line[start];
  let index = start + 1;
  while (index < line.length && line[index] !== mark)
    index += mark === '"' && line[index] === '\\' ? 2 : 1;
  return index + 1;
}

/**
 * `after` with its sections that `steers` replaced by those of `before`: changed ones get their old
 * text, new ones go, removed ones come back at the end.
 */
export function restoreSections(
  before: string | undefined,
  after: string,
  steers: (name: string) => boolean,
  toml: boolean,
): string {
  const isSteering = (section: Section): boolean =>
    section.name !== undefined && steers(section.name);
  const old = splitSections(before ?? '', toml).filter(isSteering);
  const waiting = [...old];
  const parts: string[] = [];
  for (const section of splitSections(after, toml)) {
    if (!isSteering(section)) parts.push(section.lines.join(''));
    else {
      const at = waiting.findIndex((other) => other.name === section.name);
      const [found] = at < 0 ? [] : waiting.splice(at, 1);
      if (found) parts.push(found.lines.join(''));
    }
  }
  for (const section of waiting) {
    const last = parts.at(-1);
    if (last !== undefined && last !== '' && !last.endsWith('\n')) parts.push('\n');
    parts.push(section.lines.join(''));
  }
  return parts.join('');
}
