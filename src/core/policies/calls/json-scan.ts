/**
 * Finds where a JSON value ends and what is wrong with it, in one pass and without recursion.
 *
 * `JSON.parse` cannot say where a value ends inside a longer text, and its messages differ between
 * versions of Node, while what a model reads must not. Two faults that models often make keep the
 * structure readable and are reported as problems instead of ending the scan: raw control
 * characters inside strings, and commas before a closing bracket.
 */
export type JsonScan =
  | { readonly kind: 'value'; readonly end: number; readonly problems: readonly JsonProblem[] }
  | {
      readonly kind: 'broken';
      readonly at: number;
      readonly expected: string;
      /** The text ended inside the value. */
      readonly unfinished: boolean;
    };

export interface JsonProblem {
  readonly kind: 'control-character' | 'trailing-comma';
  readonly at: number;
}

/** Deeper values are refused: recursive readers further on would overflow their stack. */
const MAX_DEPTH = 128;

const BLANKS = /[ \t\n\r]*/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

type Expectation = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end';

/** @param start index of the first character of the value. @param limit index to stop before. */
export function scanJson(text: string, start: number, limit = text.length): JsonScan {
  const problems: JsonProblem[] = [];
  const stack: ('{' | '[')[] = [];
  let expectation: Expectation = 'value';
  let at = start;
  let comma = -1;

  for (;;) {
    at = Math.min(matchEnd(BLANKS, text, at), limit);
    const top = stack.at(-1);
    const close = top === '{' ? '}' : ']';
    if (at >= limit) return broken(at, wanted(expectation, close), true);
    const char = text[at];

    if (expectation === 'colon') {
      if (char !== ':') return broken(at, wanted(expectation, close));
      expectation = 'value';
      at += 1;
      continue;
    }

    if (expectation === 'comma-or-end' && char === ',') {
      comma = at;
      expectation = top === '{' ? 'key' : 'value';
      at += 1;
      continue;
    }

    // After a comma a closing bracket is a fault that leaves no doubt about what was meant.
    const trailing = comma >= 0 && (expectation === 'key' || expectation === 'value');
    if (top !== undefined && char === close && (mayEnd(expectation) || trailing)) {
      if (trailing) problems.push({ kind: 'trailing-comma', at: comma });
      comma = -1;
      stack.pop();
      at += 1;
      if (stack.length === 0) return { kind: 'value', end: at, problems };
      expectation = 'comma-or-end';
      continue;
    }
    comma = -1;

    if (expectation === 'comma-or-end') return broken(at, wanted(expectation, close));

    if (char === '"') {
      const string = scanString(text, at, limit, problems);
      if (string.kind === 'broken') return string;
      at = string.end;
      if (expectation === 'key' || expectation === 'key-or-end') {
        expectation = 'colon';
        continue;
      }
    } else if (expectation === 'key' || expectation === 'key-or-end') {
      return broken(at, wanted(expectation, close));
    } else if (char === '{' || char === '[') {
      if (stack.length === MAX_DEPTH)
        return broken(at, `at most ${MAX_DEPTH} levels of nested values`);
      stack.push(char);
      expectation = char === '{' ? 'key-or-end' : 'value-or-end';
      at += 1;
      continue;
    } else {
      const end = matchEnd(SCALAR, text, at);
      if (end === at || end > limit) {
        return broken(
          at,
          wanted(expectation, close),
          text.length - at < 5 && isCutScalar(text, at),
        );
      }
      at = end;
    }
    if (stack.length === 0) return { kind: 'value', end: at, problems };
    expectation = 'comma-or-end';
  }
}

function scanString(
  text: string,
  start: number,
  limit: number,
  problems: JsonProblem[],
): { readonly kind: 'string'; readonly end: number } | Extract<JsonScan, { kind: 'broken' }> {
  let at = start + 1;
  for (;;) {
    at = matchEnd(PLAIN, text, at);
    if (at >= limit) return broken(limit, '" at the end of the string', true);
    const char = text[at];
    if (char === '"') return { kind: 'string', end: at + 1 };
    if (char === '\\') {
      const end = matchEnd(ESCAPE, text, at);
      if (end === at) {
        const cut = limit - at < 6 && /^\\(?:u[0-9a-fA-F]*)?$/.test(text.slice(at, limit));
        return broken(at, 'one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX after a backslash', cut);
      }
      at = end;
    } else {
      problems.push({ kind: 'control-character', at });
      at += 1;
    }
  }
}

/** Puts right what `scanJson` reported as problems; `text.slice(start, end)` is the scanned value. */
export function repairJson(
  text: string,
  start: number,
  end: number,
  problems: readonly JsonProblem[],
): string {
  const parts: string[] = [];
  let from = start;
  for (const problem of [...problems].sort((a, b) => a.at - b.at)) {
    parts.push(text.slice(from, problem.at));
    if (problem.kind === 'control-character') {
      parts.push(JSON.stringify(text[problem.at]).slice(1, -1));
    }
    from = problem.at + 1;
  }
  parts.push(text.slice(from, end));
  return parts.join('');
}

/** In words for a model, with the place counted from `start`. */
export function describeProblem(text: string, start: number, problem: JsonProblem): string {
  const place = placeOf(text, start, problem.at);
  if (problem.kind === 'trailing-comma') {
    return `there is a comma before a closing bracket at ${place}; remove it`;
  }
  const char = text[problem.at] ?? '';
  const [name, written] =
    char === '\n'
      ? ['line break', '\\n']
      : char === '\t'
        ? ['tab', '\\t']
        : char === '\r'
          ? ['carriage return', '\\r']
          : ['control character', JSON.stringify(char).slice(1, -1)];
  return `a string holds a raw ${name} at ${place}; write it as ${written}`;
}

/** `line 2, column 5`, both from 1, counted from `start`. */
export function placeOf(text: string, start: number, at: number): string {
  let line = 1;
  let lineStart = start;
  for (let i = text.indexOf('\n', start); i >= 0 && i < at; i = text.indexOf('\n', i + 1)) {
    line += 1;
    lineStart = i + 1;
  }
  return `line ${line}, column ${at - lineStart + 1}`;
}

function mayEnd(expectation: Expectation): boolean {
  return (
    expectation === 'comma-or-end' || expectation === 'key-or-end' || expectation === 'value-or-end'
  );
}

function isCutScalar(text: string, at: number): boolean {
  const rest = text.slice(at);
  return ['true', 'false', 'null', '-'].some((word) => word.startsWith(rest));
}

function wanted(expectation: Expectation, close: string): string {
  switch (expectation) {
    case 'value':
      return 'a value';
    case 'value-or-end':
      return 'a value or "]"';
    case 'key':
      return 'a key in double quotes';
    case 'key-or-end':
      return 'a key in double quotes or "}"';
    case 'colon':
      return '":"';
    case 'comma-or-end':
      return `"," or "${close}"`;
  }
}

function broken(
  at: number,
  expected: string,
  unfinished = false,
): Extract<JsonScan, { kind: 'broken' }> {
  return { kind: 'broken', at, expected, unfinished };
}

function matchEnd(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : at;
}
