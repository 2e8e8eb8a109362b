import type { ToolSchema } from '../../tools/tool.ts';
import type { BareCall } from './call-shape.ts';
import { isRecord } from './call-shape.ts';
import type { Lookahead } from './lookahead.ts';

/**
 * Qwen3-Coder's form:
 *
 *     <function=NAME>
 *     <parameter=KEY>
 *     value
 *     </parameter>
 *     </function>
 *
 * One line break on each side of a value belongs to the syntax; everything else is data, which may
 * hold the same tags. A value ends at the first `</parameter>` that stands at the start of a line
 * and is followed by what can follow: another parameter of this tool, or the end of the function
 * (and of the surrounding <tool_call>). Only text that repeats exactly that cannot be told apart.
 */
export type FunctionXml =
  | { readonly kind: 'call'; readonly call: BareCall; readonly end: number }
  | {
      readonly kind: 'broken';
      readonly reason: string;
      readonly at: number;
      readonly unfinished: boolean;
    };

const OPEN = /<function=([^>\s]+)>/y;
const PARAMETER = /<parameter=([^>\n]+)>/y;
const BLANKS = /\s*/y;
const FUNCTION_END = '</function>';
const PARAMETER_END = '</parameter>';

/** @param start index of `<function=`. @param inTag whether it stands inside `<tool_call>`. */
export function readFunctionXml(
  text: string,
  start: number,
  inTag: boolean,
  tools: readonly ToolSchema[],
  lookahead: Lookahead,
): FunctionXml {
  const open = matchAt(OPEN, text, start);
  if (open === undefined) {
    const cut = text.indexOf('>', start) < 0;
    return broken(start, 'The name in <function=…> is missing or not closed by ">".', cut);
  }
  const name = open.groups[0] ?? '';
  const schema = tools.find((tool) => tool.name === name);
  const args = new Map<string, unknown>();
  let at = open.end;

  for (;;) {
    at = skipBlanks(text, at);
    if (text.startsWith(FUNCTION_END, at)) {
      const call = { name, arguments: Object.fromEntries(args) };
      return { kind: 'call', call, end: at + FUNCTION_END.length };
    }
    const parameter = matchAt(PARAMETER, text, at);
    if (parameter === undefined) {
      const cut = isCut(text, at, [FUNCTION_END, '<parameter=']);
      return broken(
        at,
        `After <function=${name}> only <parameter=…> or </function> may follow.`,
        cut,
      );
    }
    const key = parameter.groups[0] ?? '';
    if (args.has(key)) return broken(at, `The parameter "${key}" is given twice.`, false);
    args.set(key, undefined);
    const end = valueEnd(text, parameter.end, { inTag, schema }, lookahead);
    if (end === undefined) {
      return broken(
        parameter.end,
        `The parameter "${key}" has no end: close it with </parameter> on a line of its own, followed by the next <parameter=…> or by </function>.`,
        lookahead.find(FUNCTION_END, parameter.end) < 0,
      );
    }
    args.set(key, typed(text.slice(end.from, end.to), schema, key));
    at = end.next;
  }
}

interface Surroundings {
  readonly inTag: boolean;
  readonly schema: ToolSchema | undefined;
}

interface Value {
  readonly from: number;
  readonly to: number;
  /** Index after `</parameter>`. */
  readonly next: number;
}

/** The slice that is the value, without the two line breaks of the syntax. */
function valueEnd(
  text: string,
  start: number,
  around: Surroundings,
  lookahead: Lookahead,
): Value | undefined {
  const from = text[start] === '\n' ? start + 1 : start;
  let sloppy: Value | undefined;
  for (
    let close = lookahead.find(PARAMETER_END, start);
    close >= 0;
    close = lookahead.find(PARAMETER_END, close + 1)
  ) {
    const next = close + PARAMETER_END.length;
    const follows = whatFollows(text, next, around);
    if (follows === 'data') continue;
    const ownLine = close > start && text[close - 1] === '\n';
    // `<parameter=key>\n</parameter>`: one line break serves both sides.
    const value = { from, to: ownLine ? Math.max(from, close - 1) : close, next };
    // Where the line break before `</parameter>` was left out, this is the end for certain only if
    // what follows can be nothing but syntax; else a later end on a line of its own is preferred.
    if (ownLine || from === start || follows === 'certain') return value;
    sloppy ??= value;
  }
  return sloppy;
}

function whatFollows(
  text: string,
  after: number,
  around: Surroundings,
): 'data' | 'possible' | 'certain' {
  const at = skipBlanks(text, after);
  if (text.startsWith(FUNCTION_END, at)) {
    let rest = skipBlanks(text, at + FUNCTION_END.length);
    if (around.inTag && rest < text.length) {
      if (!text.startsWith('</tool_call>', rest)) return 'data';
      rest = skipBlanks(text, rest + '</tool_call>'.length);
    }
    const over =
      rest === text.length ||
      text.startsWith('<tool_call>', rest) ||
      text.startsWith('<function=', rest);
    return over ? 'certain' : 'possible';
  }
  const parameter = matchAt(PARAMETER, text, at);
  const key = parameter?.groups[0];
  if (key === undefined) return 'data';
  const known = propertiesOf(around.schema);
  if (known === undefined) return 'possible';
  return Object.hasOwn(known, key) ? 'certain' : 'data';
}

/**
 * Values are text in this form; the tool's schema says which of them are meant as JSON. What does
 * not read as its type stays text, and the check of the arguments explains it.
 */
function typed(value: string, schema: ToolSchema | undefined, key: string): unknown {
  const property = propertiesOf(schema)?.[key];
  if (property === undefined || acceptsText(property)) return value;
  const word = value.trim();
  // Chat templates print booleans and nothing the way Python does.
  if (word === 'True' || word === 'False') return word === 'True';
  if (word === 'None') return null;
  try {
    return JSON.parse(word);
  } catch {
    return value;
  }
}

function propertiesOf(schema: ToolSchema | undefined): Record<string, unknown> | undefined {
  const properties = schema?.parameters.properties;
  return isRecord(properties) ? properties : undefined;
}

function acceptsText(property: unknown): boolean {
  if (!isRecord(property)) return true;
  if (Array.isArray(property.enum)) return property.enum.some((item) => typeof item === 'string');
  const options = property.anyOf ?? property.oneOf;
  if (Array.isArray(options)) return options.some(acceptsText);
  const type = property.type;
  if (type === undefined) return !('const' in property) || typeof property.const === 'string';
  return type === 'string' || (Array.isArray(type) && type.includes('string'));
}

function isCut(text: string, at: number, words: readonly string[]): boolean {
  const rest = text.slice(at, at + 200);
  if (at + rest.length < text.length) return false;
  return words.some((word) => word.startsWith(rest) || rest.startsWith('<parameter='));
}

function skipBlanks(text: string, at: number): number {
  BLANKS.lastIndex = at;
  BLANKS.test(text);
  return BLANKS.lastIndex;
}

function matchAt(
  sticky: RegExp,
  text: string,
  at: number,
): { readonly end: number; readonly groups: readonly (string | undefined)[] } | undefined {
  sticky.lastIndex = at;
  const match = sticky.exec(text);
  return match === null ? undefined : { end: sticky.lastIndex, groups: match.slice(1) };
}

function broken(at: number, reason: string, unfinished: boolean): FunctionXml {
  return { kind: 'broken', reason, at, unfinished };
}
