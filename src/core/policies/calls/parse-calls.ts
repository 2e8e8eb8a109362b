import type { CallForm, ToolCall } from '../../agent/messages.ts';
import type { ToolSchema } from '../../tools/tool.ts';
import type { MalformedCall } from '../policy.ts';
import { type BareCall, shapeOf } from './call-shape.ts';
import { readFunctionXml } from './function-xml.ts';
import { describeProblem, placeOf, repairJson, scanJson } from './json-scan.ts';
import { createLookahead } from './lookahead.ts';

export interface ParseOptions {
  readonly nextId: () => string;
  /** `length`: the reply was cut off by its token limit. */
  readonly finish?: 'stop' | 'length';
  /** Schemas make the XML form exact: they name the parameters and their types. */
  readonly tools?: readonly ToolSchema[];
  /**
   * Off (training): JSON with raw control characters in strings or with trailing commas is a
   * malformed call. On (interactive): these two faults are repaired, and the result says so.
   */
  readonly lenient?: boolean;
}

export interface ParsedReply {
  readonly calls: readonly ToolCall[];
  readonly malformed: readonly MalformedCall[];
  readonly callForm: CallForm;
  /** The text without its thinking parts, otherwise unchanged. */
  readonly content: string;
  readonly reasoning?: string;
  readonly repairs: readonly string[];
}

/**
 * Reads the calls that a model wrote as text.
 *
 * - Explicit forms (`<tool_call>`, `<function=…>`, `<tools>`) win over fenced JSON, and that over
 *   bare JSON: who can write an explicit call uses the weaker forms to illustrate.
 * - Fenced and bare JSON count only if they have a name and arguments; bare JSON must start a line.
 * - Nothing inside thinking (`<think>`, also unclosed, or everything before a lone `</think>`),
 *   inline backticks or fenced code of other languages is a call.
 * - Values are taken as they are: no trimming, no second unescape.
 *
 * Never throws; time is linear in the length of the text.
 */
export function parseCalls(text: string, options: ParseOptions): ParsedReply {
  const { found, content, reasoning, exhausted } = scanReply(text, options);
  const best = found.reduce((rank, item) => Math.min(rank, RANK[item.form]), Number.MAX_VALUE);
  const used = found.filter((item) => RANK[item.form] === best);
  const calls: ToolCall[] = [];
  const malformed: MalformedCall[] = [];
  const repairs: string[] = [];
  for (const item of used) {
    for (const call of item.calls) calls.push({ id: options.nextId(), ...call });
    if (item.malformed !== undefined) malformed.push(item.malformed);
    repairs.push(...item.repairs);
  }
  if (exhausted) {
    malformed.push({
      reason:
        'The reply holds too many unfinished calls to read them all. Write one call, complete.',
      text: excerpt(text),
    });
  }
  return {
    calls,
    malformed,
    callForm: used[0]?.form ?? 'none',
    content,
    ...(reasoning === undefined ? {} : { reasoning }),
    repairs,
  };
}

type TextForm = 'hermes' | 'xml' | 'tools-tag' | 'fence' | 'json';

const RANK: Readonly<Record<TextForm, number>> = {
  hermes: 0,
  xml: 0,
  'tools-tag': 0,
  fence: 1,
  json: 2,
};

interface Found {
  readonly form: TextForm;
  readonly end: number;
  readonly calls: readonly BareCall[];
  readonly malformed?: MalformedCall;
  readonly repairs: readonly string[];
}

interface Scanned {
  readonly found: readonly Found[];
  readonly content: string;
  readonly reasoning?: string;
  readonly exhausted: boolean;
}

const TOKEN = /<\/?think>|<tool_call>|<function=|<tools>|`+|[{[]/g;
const TRANSPARENT = /[ \t]*(?:\n\s*)?(?:<tool_call>|<function=|<tools>)/y;
/** Languages of fences that models put around calls. */
const CALL_LANGUAGES = new Set(['', 'json', 'jsonc', 'xml', 'tool', 'tool_call', 'tool_calls']);
/** A bare object is looked at only if it starts like a call: code is full of braces. */
const BARE_START = /[{[][\s[{]{0,40}"(?:name|function|arguments|parameters|type|id)"\s*:/y;
const BLANKS = /\s*/y;
/** Longest inline code that is looked for, in characters. */
const INLINE_CODE = 4000;

function scanReply(text: string, options: ParseOptions): Scanned {
  const lookahead = createLookahead(text);
  const token = new RegExp(TOKEN);
  let found: Found[] = [];
  const content: string[] = [];
  const thoughts: string[] = [];
  let kept = 0;
  let openFence = 0;
  let thinkingSeen = false;

  /** Everything before a lone `</think>` was thinking: the template had opened it in the prompt. */
  const dropAsThinking = (close: number): number => {
    thoughts.push(...content.splice(0), text.slice(kept, close));
    found = [];
    openFence = 0;
    thinkingSeen = true;
    kept = close + '</think>'.length;
    return kept;
  };

  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const at = match.index;
    const word = match[0];
    if (word === '<think>') {
      const close = text.indexOf('</think>', at);
      content.push(text.slice(kept, at));
      thoughts.push(text.slice(at + word.length, close < 0 ? text.length : close));
      kept = close < 0 ? text.length : close + '</think>'.length;
      thinkingSeen = true;
      token.lastIndex = kept;
    } else if (word === '</think>') {
      token.lastIndex = dropAsThinking(at);
    } else if (word.startsWith('`')) {
      if (openFence > 0 && word.length >= openFence && atLineStart(text, at)) {
        openFence = 0;
        continue;
      }
      if (word.length >= 3 && atLineStart(text, at)) {
        const fence = readFence(text, at, word.length, options, lookahead);
        if (fence.kind === 'transparent') openFence = word.length;
        if (fence.found !== undefined) found.push(fence.found);
        token.lastIndex = fence.end;
      } else {
        token.lastIndex = inlineCodeEnd(text, at, word.length);
      }
    } else {
      const item = readCall(text, at, word, options, lookahead);
      if (item === undefined) continue;
      if (item.malformed !== undefined && !thinkingSeen) {
        const close = text.slice(at, item.end).indexOf('</think>');
        if (close >= 0) {
          token.lastIndex = dropAsThinking(at + close);
          continue;
        }
      }
      // Quoted as a whole, over several lines.
      const quoted = text[at - 1] === '`' && text[item.end] === '`';
      if (!quoted) found.push(item);
      token.lastIndex = item.end;
    }
  }
  content.push(text.slice(kept));
  const reasoning = thoughts.join('');
  return {
    found,
    content: content.join(''),
    ...(thinkingSeen ? { reasoning } : {}),
    exhausted: lookahead.exhausted,
  };
}

type Look = ReturnType<typeof createLookahead>;

function readCall(
  text: string,
  at: number,
  word: string,
  options: ParseOptions,
  lookahead: Look,
): Found | undefined {
  if (lookahead.exhausted) return undefined;
  switch (word) {
    case '<tool_call>':
      return readTag(text, at, 'hermes', word, '</tool_call>', options, lookahead);
    case '<tools>':
      return readTag(text, at, 'tools-tag', word, '</tools>', options, lookahead);
    case '<function=':
      return readBareFunction(text, at, options, lookahead);
    default: {
      BARE_START.lastIndex = at;
      if (!atLineStart(text, at) || !BARE_START.test(text)) return undefined;
      const values = readValues(text, at, text.length, false, options, lookahead);
      const cut = values.broken !== undefined;
      if (cut && !looksLikeCall(text.slice(at, values.end))) return undefined;
      return foundFrom('json', at, values.end, values, text, options);
    }
  }
}

function readTag(
  text: string,
  start: number,
  form: 'hermes' | 'tools-tag',
  open: string,
  close: string,
  options: ParseOptions,
  lookahead: Look,
): Found | undefined {
  const body = skipBlanks(text, start + open.length);
  const fail = (reason: string, from: number, unfinished: boolean): Found => {
    const closer = lookahead.find(close, from);
    const opener = lookahead.find(open, from);
    const closed = closer >= 0 && (opener < 0 || closer < opener);
    const end = closed ? closer + close.length : opener >= 0 ? opener : text.length;
    const cut = unfinished && !closed;
    return malformed(form, start, end, cut ? unfinishedReason(options, reason) : reason, text);
  };

  if (form === 'hermes' && text.startsWith('<function=', body)) {
    return readTaggedFunctions(text, body, options, lookahead, fail);
  }
  if (text[body] !== '{' && text[body] !== '[') {
    const closer = lookahead.find(close, body);
    // The tag's name in prose, or an empty pair.
    if (closer < 0 && !isPrefix(text, body, '<function=')) return undefined;
    if (form === 'tools-tag') return undefined;
    return fail(`Between ${open} and ${close} must stand one JSON object.`, body, true);
  }
  const values = readValues(text, body, text.length, true, options, lookahead);
  if (values.broken !== undefined) {
    return fail(values.broken.reason, values.broken.at, values.broken.unfinished);
  }
  const after = skipBlanks(text, values.end);
  if (text.startsWith(close, after)) {
    const all = { ...values, end: after + close.length };
    return foundFrom(form, start, all.end, all, text, options);
  }
  // Servers cut the closing tag off when it is a stop word.
  if (after === text.length) return foundFrom(form, start, after, values, text, options);
  return fail(`After the JSON object ${close} must follow.`, after, isPrefix(text, after, close));
}

function readTaggedFunctions(
  text: string,
  body: number,
  options: ParseOptions,
  lookahead: Look,
  fail: (reason: string, from: number, unfinished: boolean) => Found,
): Found {
  const calls: BareCall[] = [];
  let at = body;
  while (text.startsWith('<function=', at)) {
    const read = readFunctionXml(text, at, true, options.tools ?? [], lookahead);
    if (read.kind === 'broken')
      return { ...fail(read.reason, read.at, read.unfinished), form: 'xml' };
    calls.push(read.call);
    at = skipBlanks(text, read.end);
  }
  const close = '</tool_call>';
  if (text.startsWith(close, at))
    return { form: 'xml', end: at + close.length, calls, repairs: [] };
  if (at === text.length) return { form: 'xml', end: at, calls, repairs: [] };
  const failed = fail('After </function> must follow </tool_call>.', at, isPrefix(text, at, close));
  return { ...failed, form: 'xml' };
}

function readBareFunction(
  text: string,
  start: number,
  options: ParseOptions,
  lookahead: Look,
): Found | undefined {
  const read = readFunctionXml(text, start, false, options.tools ?? [], lookahead);
  if (read.kind === 'call') {
    const after = skipBlanks(text, read.end);
    const close = '</tool_call>';
    const end = text.startsWith(close, after) ? after + close.length : read.end;
    return { form: 'xml', end, calls: [read.call], repairs: [] };
  }
  // `<function=name>` in prose.
  if (lookahead.find('<parameter=', start) < 0 && lookahead.find('</function>', start) < 0) {
    if (!read.unfinished) return undefined;
  }
  const closer = lookahead.find('</function>', read.at);
  const end = closer < 0 ? text.length : closer + '</function>'.length;
  const cut = read.unfinished && closer < 0;
  const reason = cut ? unfinishedReason(options, read.reason) : read.reason;
  return malformed('xml', start, end, reason, text);
}

type Fence =
  | { readonly kind: 'transparent'; readonly end: number; readonly found?: undefined }
  | { readonly kind: 'opaque'; readonly end: number; readonly found?: Found };

function readFence(
  text: string,
  at: number,
  ticks: number,
  options: ParseOptions,
  lookahead: Look,
): Fence {
  const lineEnd = text.indexOf('\n', at);
  const infoEnd = lineEnd < 0 ? text.length : lineEnd;
  const language = text
    .slice(at + ticks, infoEnd)
    .trim()
    .toLowerCase();
  const afterTicks = { kind: 'opaque', end: at + ticks } as const;
  const close = fenceClose(text, infoEnd, ticks, lookahead);
  if (!CALL_LANGUAGES.has(language)) {
    // Other languages hide their content, if they are closed at all.
    return close === undefined ? afterTicks : { kind: 'opaque', end: close.end };
  }
  TRANSPARENT.lastIndex = infoEnd;
  if (TRANSPARENT.test(text)) return { kind: 'transparent', end: infoEnd };
  const body = skipBlanks(text, infoEnd);
  const limit = close?.start ?? text.length;
  if (text[body] === '{' || text[body] === '[') {
    const values = readValues(text, body, limit, false, options, lookahead);
    const unread = values.broken === undefined && skipBlanks(text, values.end) < limit;
    const end = close?.end ?? text.length;
    if (values.broken !== undefined && looksLikeCall(text.slice(body, limit))) {
      return { kind: 'opaque', end, found: foundFrom('fence', at, end, values, text, options) };
    }
    if (values.broken === undefined && !unread) {
      const item = foundFrom('fence', at, end, values, text, options);
      return item === undefined ? { kind: 'opaque', end } : { kind: 'opaque', end, found: item };
    }
  }
  return close === undefined ? afterTicks : { kind: 'opaque', end: close.end };
}

/** The closing line of a fence: at least as many backticks, at the start of a line, nothing after. */
function fenceClose(
  text: string,
  from: number,
  ticks: number,
  lookahead: Look,
): { readonly start: number; readonly end: number } | undefined {
  const line = new RegExp(`[ \\t]*\`{${ticks},}[ \\t\\r]*(?=\\n|$)`, 'y');
  for (let at = lookahead.find('\n', from); at >= 0; at = lookahead.find('\n', at + 1)) {
    line.lastIndex = at + 1;
    if (line.test(text)) return { start: at, end: line.lastIndex };
  }
  return undefined;
}

/** Inline code ends at a run of as many backticks on the same line; else the run is plain text. */
function inlineCodeEnd(text: string, at: number, ticks: number): number {
  const ahead = text.slice(at + ticks, at + ticks + INLINE_CODE);
  const lineEnd = ahead.indexOf('\n');
  const line = lineEnd < 0 ? ahead : ahead.slice(0, lineEnd);
  const run = '`'.repeat(ticks);
  for (let close = line.indexOf(run); close >= 0; ) {
    let end = close + ticks;
    while (line[end] === '`') end += 1;
    if (end - close === ticks) {
      const code = line.slice(0, close);
      // A stray backtick before a call whose values hold backticks must not hide the call.
      const opens = /<tool_call>\s*[{<]|<function=[^>\s]+>\s*<|<tools>\s*[{[]/.test(code);
      const closes = /<\/(?:tool_call|function|tools)>/.test(code);
      return opens && !closes ? at + ticks : at + ticks + end;
    }
    close = line.indexOf(run, end);
  }
  return at + ticks;
}

interface Values {
  readonly end: number;
  readonly values: readonly unknown[];
  readonly repairs: readonly string[];
  readonly broken?: { readonly reason: string; readonly at: number; readonly unfinished: boolean };
}

/** One JSON object or array, or (`several`, and in fences) more of them separated by blanks. */
function readValues(
  text: string,
  start: number,
  limit: number,
  several: boolean,
  options: ParseOptions,
  lookahead: Look,
): Values {
  const values: unknown[] = [];
  const repairs: string[] = [];
  let at = start;
  for (;;) {
    const scan = scanJson(text, at, limit);
    lookahead.spend((scan.kind === 'value' ? scan.end : scan.at) - at + 1);
    if (scan.kind === 'broken') {
      const place = placeOf(text, start, scan.at);
      const reason = `The call is not valid JSON: ${scan.expected} is expected at ${place} of the call${near(text, scan.at)}.`;
      return {
        end: scan.unfinished ? limit : scan.at,
        values,
        repairs,
        broken: { reason, at: scan.at, unfinished: scan.unfinished },
      };
    }
    const [first] = scan.problems;
    if (first !== undefined && options.lenient !== true) {
      const reason = `The call is not valid JSON: ${describeProblem(text, start, first)}.`;
      return {
        end: scan.end,
        values,
        repairs,
        broken: { reason, at: scan.end, unfinished: false },
      };
    }
    for (const problem of scan.problems) repairs.push(describeProblem(text, start, problem));
    const json = repairJson(text, at, scan.end, scan.problems);
    const value: unknown = JSON.parse(json);
    if (Array.isArray(value)) values.push(...value);
    else values.push(value);
    const next = skipBlanks(text, scan.end);
    if ((several || limit < text.length) && next < limit && text[next] === '{') at = next;
    else return { end: scan.end, values, repairs };
  }
}

function foundFrom(
  form: 'hermes' | 'tools-tag' | 'fence' | 'json',
  start: number,
  end: number,
  values: Values,
  text: string,
  options: ParseOptions,
): Found | undefined {
  const explicit = form === 'hermes';
  if (values.broken !== undefined) {
    const { reason, unfinished } = values.broken;
    return malformed(
      form,
      start,
      end,
      unfinished ? unfinishedReason(options, reason) : reason,
      text,
    );
  }
  const calls: BareCall[] = [];
  for (const value of values.values) {
    const shape = shapeOf(value, explicit);
    if (shape.kind === 'malformed') {
      return { ...malformed(form, start, end, shape.reason, text), calls };
    }
    if (shape.kind === 'call') calls.push(shape.call);
    else if (explicit) {
      return {
        ...malformed(form, start, end, 'This describes a tool and does not call it.', text),
        calls,
      };
    }
  }
  if (calls.length === 0) {
    if (!explicit) return undefined;
    return malformed(form, start, end, 'The call is empty.', text);
  }
  return { form, end, calls, repairs: values.repairs };
}

function malformed(
  form: TextForm,
  start: number,
  end: number,
  reason: string,
  text: string,
): Found {
  const written = excerpt(text.slice(start, Math.min(end, start + 2 * EXCERPT)), end - start);
  return { form, end, calls: [], malformed: { reason, text: written }, repairs: [] };
}

function unfinishedReason(options: ParseOptions, reason: string): string {
  return options.finish === 'length'
    ? 'The reply was cut off by its token limit inside a call. Write a shorter reply, or make the change in smaller steps.'
    : `The call is not finished. ${reason}`;
}

/** Broken JSON is reported only where a call was meant; other JSON is none of our business. */
function looksLikeCall(written: string): boolean {
  const head = written.slice(0, 4000);
  return /"(?:name|function)"\s*:/.test(head) && /"(?:arguments|parameters)"\s*:/.test(head);
}

const EXCERPT = 400;

function excerpt(written: string, length = written.length): string {
  return length <= EXCERPT ? written : `${written.slice(0, EXCERPT)}…`;
}

function near(text: string, at: number): string {
  const rest = text.slice(at, at + 20);
  return rest === '' ? '' : `, before ${JSON.stringify(rest)}`;
}

function atLineStart(text: string, at: number): boolean {
  let before = at - 1;
  while (text[before] === ' ' || text[before] === '\t') before -= 1;
  return before < 0 || text[before] === '\n' || text.startsWith('</think>', before - 7);
}

function isPrefix(text: string, at: number, word: string): boolean {
  return text.length - at < word.length && word.startsWith(text.slice(at));
}

function skipBlanks(text: string, at: number): number {
  BLANKS.lastIndex = at;
  BLANKS.test(text);
  return BLANKS.lastIndex;
}
