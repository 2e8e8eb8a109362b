import type { SourcePlace } from '../framework.ts';

export interface CargoFailureText {
  readonly message: string;
  /** Where it panicked, relative to the workspace of cargo. */
  readonly at?: { readonly file: string; readonly line: number; readonly column: number };
  /** Innermost first; `./` is the package's folder. */
  readonly frames: readonly SourcePlace[];
}

const MAX_LINES = 12;

/** What a failed test printed. Rust 1.73 and later put the message behind the place, on lines of its own. */
export function cargoFailure(output: string): CargoFailureText {
  const lines = output.split('\n');
  const frames = backtrace(lines);
  const start = lines.findIndex((line) => /^thread '.*' .*panicked at /.test(line));
  const panicked = lines[start] ?? '';
  const later = /panicked at (\S.*?):(\d+):(\d+):$/.exec(panicked);
  if (later) {
    const rest = lines.slice(start + 1);
    const end = rest.findIndex((line) => /^(?:stack backtrace:|note: |$)/.test(line));
    const said = rest.slice(0, end < 0 ? undefined : end);
    const note = lines.find((line) => /^note: (?:panic did not|test did not)/.test(line));
    return { message: shorten([...said, ...noteOf(lines, note)]), at: placeOf(later), frames };
  }
  const earlier = /panicked at '([\s\S]*?)', (\S.*?):(\d+):(\d+)$/m.exec(
    lines.slice(start).join('\n'),
  );
  if (start >= 0 && earlier) {
    const [, said = '', file, line, column] = earlier;
    return { message: shorten(said.split('\n')), at: placeOf(['', file, line, column]), frames };
  }
  const told = lines.filter((line) => line.trim() !== '' && !/^stack backtrace:/.test(line));
  return { message: shorten(told) || 'the test failed without a message', frames };
}

/** `note: panic did not contain expected string`, with the two values that follow. */
function noteOf(lines: readonly string[], note: string | undefined): readonly string[] {
  if (note === undefined) return [];
  const at = lines.indexOf(note);
  return [
    note.replace('note: ', ''),
    ...lines.slice(at + 1, at + 3).filter((line) => /: /.test(line)),
  ];
}

function placeOf([, file = '', line, column]: readonly (string | undefined)[]) {
  return { file, line: Number(line), column: Number(column) };
}

function shorten(lines: readonly string[]): string {
  return lines.slice(0, MAX_LINES).join('\n').trim();
}

/** `   3: shop::parser::at` and, on the next line, `at ./src/parser.rs:2:5`. */
function backtrace(lines: readonly string[]): readonly SourcePlace[] {
  const frames: SourcePlace[] = [];
  for (let index = 1; index < lines.length; index++) {
    const place = /^\s+at (\S.*?):(\d+)(?::(\d+))?$/.exec(lines[index] ?? '');
    const name = /^\s*\d+: (.+)$/.exec(lines[index - 1] ?? '')?.[1];
    if (!place || name === undefined) continue;
    frames.push({
      file: place[1] ?? '',
      line: Number(place[2]),
      ...(place[3] !== undefined && { column: Number(place[3]) }),
      function: name.replace(/^<?(?:\w+::)+(?=\w+$)/, ''),
    });
  }
  return frames;
}
