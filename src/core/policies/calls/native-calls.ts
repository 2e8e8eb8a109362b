import type { ToolCall } from '../../agent/messages.ts';
import type { MalformedCall } from '../policy.ts';
import { withArguments } from './call-shape.ts';
import { describeProblem, placeOf, repairJson, scanJson } from './json-scan.ts';

/** A native call as the server sent it (its own id is not used). */
export interface NativeCall {
  readonly name: string;
  /** A JSON string by the protocol; some servers send an object, nothing, or a string twice encoded. */
  readonly arguments: unknown;
}

export interface ReadNative {
  readonly calls: readonly ToolCall[];
  readonly malformed: readonly MalformedCall[];
  readonly repairs: readonly string[];
}

export function readNativeCalls(
  natives: readonly NativeCall[],
  options: {
    readonly nextId: () => string;
    readonly finish?: 'stop' | 'length';
    readonly lenient?: boolean;
  },
): ReadNative {
  const calls: ToolCall[] = [];
  const malformed: MalformedCall[] = [];
  const repairs: string[] = [];
  for (const native of natives) {
    const read = readArguments(native, options.lenient === true);
    repairs.push(...read.repairs);
    const shape =
      native.name === ''
        ? ({ kind: 'malformed', reason: 'The call has no name.' } as const)
        : read.kind === 'value'
          ? withArguments(native.name, read.value)
          : ({ kind: 'malformed', reason: reasonOf(read, options.finish) } as const);
    if (shape.kind === 'call') calls.push({ id: options.nextId(), ...shape.call });
    else if (shape.kind === 'malformed') {
      malformed.push({ reason: shape.reason, text: written(native) });
    }
  }
  return { calls, malformed, repairs };
}

type Arguments =
  | { readonly kind: 'value'; readonly value: unknown; readonly repairs: readonly string[] }
  | {
      readonly kind: 'broken';
      readonly reason: string;
      readonly unfinished: boolean;
      readonly repairs: readonly string[];
    };

function readArguments(native: NativeCall, lenient: boolean): Arguments {
  const text = native.arguments;
  if (typeof text !== 'string') return { kind: 'value', value: text, repairs: [] };
  if (text.trim() === '') return { kind: 'value', value: {}, repairs: [] };
  const start = text.length - text.trimStart().length;
  const scan = scanJson(text, start);
  const what = `The arguments of "${native.name}" are not valid JSON`;
  if (scan.kind === 'broken') {
    const place = placeOf(text, start, scan.at);
    const reason = `${what}: ${scan.expected} is expected at ${place}.`;
    return { kind: 'broken', reason, unfinished: scan.unfinished, repairs: [] };
  }
  if (text.slice(scan.end).trim() !== '') {
    const place = placeOf(text, start, scan.end);
    const reason = `${what}: there is more text after the object at ${place}.`;
    return { kind: 'broken', reason, unfinished: false, repairs: [] };
  }
  const [first] = scan.problems;
  if (first !== undefined && !lenient) {
    const reason = `${what}: ${describeProblem(text, start, first)}.`;
    return { kind: 'broken', reason, unfinished: false, repairs: [] };
  }
  const repairs = scan.problems.map((problem) => describeProblem(text, start, problem));
  const value: unknown = JSON.parse(repairJson(text, start, scan.end, scan.problems));
  return { kind: 'value', value, repairs };
}

function reasonOf(
  read: Extract<Arguments, { kind: 'broken' }>,
  finish: 'stop' | 'length' | undefined,
): string {
  return read.unfinished && finish === 'length'
    ? 'The reply was cut off by its token limit inside a call. Write a shorter reply, or make the change in smaller steps.'
    : read.reason;
}

function written(native: NativeCall): string {
  const args =
    typeof native.arguments === 'string' ? native.arguments : JSON.stringify(native.arguments);
  const text = `${native.name}(${args ?? ''})`;
  return text.length <= 400 ? text : `${text.slice(0, 400)}…`;
}
