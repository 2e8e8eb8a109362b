import type { SourcePlace } from '../framework.ts';

/** What the output of a failed test says. Files are as Go writes them. */
export interface GoFailureText {
  readonly message: string;
  readonly expected?: string;
  readonly actual?: string;
  /** `file_test.go:12`, of `t.Error` and the like; the folder is the package's. */
  readonly at?: { readonly file: string; readonly line: number };
}

const MAX_LINES = 12;

export function failureText(output: string): GoFailureText {
  const lines = output.split('\n').filter((line) => !/^\s*(?:===|---) [A-Z]+\b/.test(line));
  const at =
    /^\s+([^\s:/]+\.go):(\d+): /m.exec(output) ?? /^\s+([^\s:/]+\.go):(\d+):\s*$/m.exec(output);
  const place = at && { at: { file: at[1] ?? '', line: Number(at[2]) } };
  return { message: messageOf(lines), ...valuesOf(lines), ...place };
}

function messageOf(lines: readonly string[]): string {
  const panic = lines.find((line) => /^(?:panic|fatal error|SIG[A-Z]+): /.test(line));
  if (panic !== undefined) return panic.replace(/ \[recovered[^\]]*\]$/, '').trim();
  const testify = lines.findIndex((line) => /^\s*Error:\s+\S/.test(line));
  const shown = testify >= 0 ? testifyError(lines.slice(testify)) : dedent(lines);
  return shown.slice(0, MAX_LINES).join('\n').trim();
}

/** The text under `Error:` up to the next heading (`Test:`, `Messages:`) or the diff of the values. */
function testifyError(lines: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const line of lines) {
    const heading = /^\s*(Error|Test|Messages|Error Trace):\s*(.*)$/.exec(line);
    if (heading && found.length > 0) {
      if (heading[1] === 'Messages') found.push(heading[2] ?? '');
      else break;
    } else if (/^\s*Diff:/.test(line)) break;
    else found.push(heading ? (heading[2] ?? '') : line.trim());
  }
  return found.filter((line) => line !== '');
}

/** Without the indentation and places of `t.Error`, which have a field of their own. */
function dedent(lines: readonly string[]): readonly string[] {
  return lines
    .filter((line) => !/^(?:FAIL|PASS|ok)\b|^exit status \d+$/.test(line))
    .map((line) => line.replace(/^\s+[^\s:/]+\.go:\d+: ?/, '').replace(/^(?: {4})+/, ''))
    .filter((line) => line.trim() !== '');
}

function valuesOf(lines: readonly string[]): { expected?: string; actual?: string } {
  // Examples print `got:` and `want:`, each followed by the text.
  const got = lines.indexOf('got:');
  const want = lines.indexOf('want:', got);
  if (got >= 0 && want > got) {
    return {
      expected: lines
        .slice(want + 1)
        .join('\n')
        .trim(),
      actual: lines
        .slice(got + 1, want)
        .join('\n')
        .trim(),
    };
  }
  const expected = value(lines, /^\s*expected\s*: (.*)$/);
  const actual = value(lines, /^\s*actual\s*: (.*)$/);
  return expected !== undefined && actual !== undefined ? { expected, actual } : {};
}

function value(lines: readonly string[], pattern: RegExp): string | undefined {
  for (const line of lines) {
    const found = pattern.exec(line);
    if (found) return found[1] ?? '';
  }
  return undefined;
}

/** Frames of the goroutine that broke, innermost first; relative where they were made so. */
export function goFrames(text: string): readonly SourcePlace[] {
  const frames: SourcePlace[] = [];
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^goroutine \d+\b.*\[/.test(line));
  if (start < 0) return frames;
  for (let index = start + 1; index + 1 < lines.length; index += 2) {
    const name = lines[index] ?? '';
    const place = /^\t(\S.*\.go):(\d+)(?: \+0x[0-9a-f]+)?$/.exec(lines[index + 1] ?? '');
    if (!place || name.startsWith('created by ')) break;
    const shown = /([\w.()*]+)\(.*\)$/.exec(name.slice(name.lastIndexOf('/') + 1))?.[1];
    frames.push({
      file: place[1] ?? '',
      line: Number(place[2]),
      ...(shown !== undefined && { function: shown }),
    });
  }
  return frames;
}
