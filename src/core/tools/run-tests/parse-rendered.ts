import type { SourcePlace } from '../../frameworks/framework.ts';

/** One FAIL or ERROR block, read back from an observation or from the first user message. */
export interface RenderedFailure {
  readonly kind: 'test' | 'file';
  /** Test id, or the file that could not be loaded. */
  readonly id: string;
  readonly file: string;
  /** Empty when expected and actual say it all. */
  readonly message: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly place?: SourcePlace;
  readonly ownFrame?: SourcePlace;
}

/** For policies that know a run only by its text. Foreign text around the blocks is skipped. */
export function parseRendered(text: string): readonly RenderedFailure[] {
  const failures: RenderedFailure[] = [];
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const head = /^(FAIL|ERROR) (.+)$/.exec(lines[index] ?? '');
    if (!head) continue;
    const body: string[] = [];
    while (index + 1 < lines.length && isBody(lines, index + 1)) {
      index += 1;
      body.push(lines[index] ?? '');
    }
    failures.push(readBlock(head[1] === 'FAIL' ? 'test' : 'file', head[2] ?? '', body));
  }
  return failures;
}

/** Indented, or a blank line with more of the block behind it. */
function isBody(lines: readonly string[], index: number): boolean {
  let at = index;
  while (lines[at] === '') at += 1;
  return lines[at]?.startsWith('  ') === true;
}

function readBlock(
  kind: RenderedFailure['kind'],
  id: string,
  body: readonly string[],
): RenderedFailure {
  const rest = [...body];
  // Places stand at the end; a message may hold lines that look like them.
  const own = /^ {2}in (.+):(\d+)(?: \((.+)\))?$/.exec(rest.at(-1) ?? '');
  if (own) rest.pop();
  const at = /^ {2}at (.+):(\d+)$/.exec(rest.at(-1) ?? '');
  if (at) rest.pop();
  const actual = takeValue(rest, 'actual');
  const expected = takeValue(rest, 'expected');
  const separator = id.indexOf('::');
  return {
    kind,
    id,
    file: separator < 0 ? id : id.slice(0, separator),
    message: rest.map((line) => line.replace(/^ {2}/, '')).join('\n'),
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual }),
    ...(at && { place: placeOf(at) }),
    ...(own && { ownFrame: placeOf(own) }),
  };
}

/** Takes `  label: value` or `  label:` with its indented lines from the end of the block. */
function takeValue(lines: string[], label: string): string | undefined {
  const start = lines.findLastIndex(
    (line) => line === `  ${label}:` || line.startsWith(`  ${label}: `),
  );
  if (start < 0) return undefined;
  const [head = '', ...more] = lines.slice(start);
  if (more.some((line) => line !== '' && !line.startsWith('    '))) return undefined;
  lines.length = start;
  const inline = head.slice(label.length + 4);
  return more.length === 0 ? inline : more.map((line) => line.slice(4)).join('\n');
}

function placeOf(match: RegExpExecArray): SourcePlace {
  const [, file = '', line = '1', name] = match;
  return { file, line: Number(line), ...(name && { function: name }) };
}
