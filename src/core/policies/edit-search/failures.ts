/** Reads what `run_tests` shows, which is also what the first message holds. */

export interface FailureBlock {
  /** `file::name`, or a file that could not be collected. */
  readonly id: string;
  readonly kind: 'failed' | 'error';
  readonly expected: string | undefined;
  readonly actual: string | undefined;
  readonly message: string;
  readonly at: Place | undefined;
  readonly inside: Place | undefined;
}

export interface Place {
  readonly file: string;
  readonly line: number;
  readonly function: string | undefined;
}

export interface TestReport {
  /** Something ran and nothing went wrong. */
  readonly passed: boolean;
  readonly failures: readonly FailureBlock[];
}

const HEAD = /^(FAIL|ERROR) (.+)$/;
const PLACE = /^ {2}(at|in) (.+?):(\d+)(?::\d+)?(?: \((.+)\))?$/;

export function readReport(text: string): TestReport {
  const failures = readFailures(text);
  const summary = text.trimStart().split('\n', 1)[0] ?? '';
  const passed =
    failures.length === 0 &&
    /\b[1-9]\d* passed\b/.test(summary) &&
    !/fail|error|timed out|crash|stopped/i.test(summary);
  return { passed, failures };
}

export function readFailures(text: string): readonly FailureBlock[] {
  const blocks: { kind: string; id: string; lines: string[] }[] = [];
  let open: { kind: string; id: string; lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const [, kind, id] = HEAD.exec(line) ?? [];
    if (kind !== undefined && id !== undefined) {
      open = { kind, id: id.trim(), lines: [] };
      blocks.push(open);
    } else if (open !== undefined && (line.startsWith('  ') || line.trim() === '')) {
      open.lines.push(line);
    } else {
      open = undefined;
    }
  }
  return blocks.map(readBlock);
}

function readBlock(block: { kind: string; id: string; lines: readonly string[] }): FailureBlock {
  let at: Place | undefined;
  let inside: Place | undefined;
  const values: Record<'expected' | 'actual', string | undefined> = {
    expected: undefined,
    actual: undefined,
  };
  let current: 'expected' | 'actual' | undefined;
  const message: string[] = [];
  for (const line of block.lines) {
    const [, word, file, number, name] = PLACE.exec(line) ?? [];
    const [, field, value] = /^ {2}(expected|actual): ?(.*)$/.exec(line) ?? [];
    if (word !== undefined && file !== undefined) {
      const place: Place = { file, line: Number(number), function: name };
      if (word === 'at') at = place;
      else inside = place;
      current = undefined;
    } else if (field === 'expected' || field === 'actual') {
      values[field] = value ?? '';
      current = field;
    } else if (current !== undefined && line.startsWith('   ')) {
      values[current] = `${values[current]}\n${line.trim()}`;
    } else {
      current = undefined;
      if (line.trim() !== '') message.push(line.trim());
    }
  }
  return {
    id: block.id,
    kind: block.kind === 'ERROR' ? 'error' : 'failed',
    ...values,
    message: message.join('\n'),
    at,
    inside,
  };
}

/** The file of a test's id. */
export function fileOf(id: string): string {
  return id.split('::', 1)[0] ?? id;
}
