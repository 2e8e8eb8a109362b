/** Every text that a model sees of `bash`. Pure; part of the scaffold. */

import { Buffer } from 'node:buffer';
import type { ExecEnd, ExecOutput, ExecResult } from '../../sandbox/sandbox.ts';
import { sliceWhole, withCommas } from '../text.ts';
import { cleanOutput } from './clean.ts';

export interface OutputLimits {
  /** Characters of output that the model sees, apart from the notes. */
  readonly maxChars: number;
  /** Longer lines are cut in the middle. */
  readonly lineChars: number;
}

export const OUTPUT_LIMITS: OutputLimits = { maxChars: 16_000, lineChars: 2_000 };

/**
 * @param result as the sandbox gives it.
 * @param timeoutSeconds what is said to have run out when it did.
 */
export function renderShell(
  result: Pick<ExecResult, 'end' | 'output'>,
  timeoutSeconds: number,
  limits: OutputLimits = OUTPUT_LIMITS,
): string {
  const output = renderOutput(result.output, limits);
  const note = endNote(result.end, timeoutSeconds);
  return [output === '' ? '(no output)' : output, ...note].join('\n');
}

export const RESTARTED = 'The shell was restarted.';

export const NUL_IN_COMMAND =
  'The command has a NUL character in it, which no shell can read. Use \\0 in printf instead.';

function endNote(end: ExecEnd, timeoutSeconds: number): readonly string[] {
  switch (end.kind) {
    case 'exited':
      return end.code === 0 ? [] : [`[exit code ${end.code}]`];
    case 'timeout':
      return [`[timed out after ${timeoutSeconds} s; its processes were ended]`];
    case 'cancelled':
      return ['[cancelled; its processes were ended]'];
  }
}

/** Output as text, both ends kept, and what is left out between them counted in bytes. */
export function renderOutput(output: ExecOutput, limits: OutputLimits): string {
  const wasCut = output.omittedBytes > 0;
  const half = Math.floor(limits.maxChars / 2);
  const head = cutLines(cleanOutput(decode(output.head, wasCut, false)), limits.lineChars);
  // The sandbox cuts at any byte: the tail may start inside a line.
  const tail = cutLines(cleanOutput(decode(output.tail, false, wasCut)), limits.lineChars);
  if (!wasCut) {
    const text = withoutFinalNewlines(head + tail);
    if (text.length <= limits.maxChars) return text;
    const first = startOf(text, half);
    const last = endOf(text, limits.maxChars - first.length);
    const left = text.slice(first.length, text.length - last.length);
    return joinEnds(first, byteLength(left), last);
  }
  const end = withoutFinalNewlines(tail);
  const first = startOf(head, half);
  const last = endOf(end, half);
  const left =
    byteLength(head.slice(first.length)) + byteLength(end.slice(0, end.length - last.length));
  return joinEnds(first, left + output.omittedBytes, last);
}

function joinEnds(first: string, bytes: number, last: string): string {
  const mark = `[… ${withCommas(bytes)} bytes left out …]`;
  const before = first === '' || first.endsWith('\n') ? first : `${first}\n`;
  return last === '' ? `${before}${mark}` : `${before}${mark}\n${last}`;
}

/** Invalid UTF-8 becomes U+FFFD; half a character at a cut is dropped. */
function decode(bytes: Uint8Array, cutAtEnd: boolean, cutAtStart: boolean): string {
  let start = 0;
  if (cutAtStart) {
    while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  }
  // A streaming decoder keeps an unfinished last character to itself.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return decoder.decode(bytes.subarray(start), { stream: cutAtEnd });
}

/** At most `limit` characters from the start, up to a line border if there is one near the end. */
function startOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const border = text.lastIndexOf('\n', limit - 1) + 1;
  if (border > limit / 2) return text.slice(0, border);
  return sliceWhole(text, 0, limit);
}

function endOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = text.length - limit;
  const border = text.indexOf('\n', start - 1) + 1;
  if (border > 0 && border < start + limit / 2) return text.slice(border);
  return sliceWhole(text, start);
}

function cutLines(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return text
    .split('\n')
    .map((line) => cutLine(line, limit))
    .join('\n');
}

function cutLine(line: string, limit: number): string {
  if (line.length <= limit) return line;
  const half = Math.floor(limit / 2);
  const first = sliceWhole(line, 0, half);
  const last = sliceWhole(line, line.length - half);
  const left = line.slice(first.length, line.length - last.length);
  return `${first}[… ${withCommas(byteLength(left))} bytes left out …]${last}`;
}

function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

function withoutFinalNewlines(text: string): string {
  return text.replace(/\n+$/, '');
}

/** Each template once, on fixed inputs, for the scaffold hash. */
export function observationSamples(): Readonly<Record<string, string>> {
  const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');
  const output = (head: string, tail = '', omittedBytes = 0): ExecOutput => {
    return { head: bytes(head), tail: bytes(tail), omittedBytes };
  };
  const exited = (code: number): ExecEnd => ({ kind: 'exited', code });
  const tight: OutputLimits = { maxChars: 20, lineChars: 8 };
  const samples: Record<string, [ExecEnd, ExecOutput, OutputLimits?]> = {
    output: [exited(0), output('10%\r100%\n\u001b[31mred\u001b[0m\n')],
    nothing: [exited(0), output('')],
    exitCode: [exited(1), output('no such file\n')],
    timeout: [{ kind: 'timeout' }, output('waiting\n')],
    cancelled: [{ kind: 'cancelled' }, output('waiting\n')],
    cut: [exited(0), output('one\ntwo\nthree\nfour\nfive\nsix\nseven\n'), tight],
    cutInSandbox: [exited(0), output('one\ntw', 'ree\nfour\n', 12_345)],
    longLine: [exited(0), output('abcdefghijkl\n'), { maxChars: 100, lineChars: 8 }],
  };
  return {
    ...Object.fromEntries(
      Object.entries(samples).map(([name, [end, out, limits]]) => [
        name,
        renderShell({ end, output: out }, 60, limits),
      ]),
    ),
    restarted: RESTARTED,
    nul: NUL_IN_COMMAND,
  };
}
