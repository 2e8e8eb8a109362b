/**
 * Every operator, with what undoes it. Operators also introduce bugs for training tasks, so the set
 * must be closed where `inverse` says so: after an edit by X there is an edit by `inverse` in the
 * list that restores the source byte for byte. `null`: what was removed cannot be guessed.
 */
export interface OperatorRow {
  readonly family: string;
  readonly what: string;
  readonly inverse: string | null;
  /** Base likelihood of being the fix, 0 to 1. */
  readonly prior: number;
}

const rows = {
  'compare-boundary': row('comparison', '< and <=, > and >=', 'compare-boundary', 0.9),
  'compare-direction': row('comparison', '< and >, <= and >=', 'compare-direction', 0.75),
  'compare-negate': row(
    'comparison',
    '=== and !==, < and >=, in and not in, is and is not',
    'compare-negate',
    0.75,
  ),
  'compare-kind': row('comparison', '== and ===, is and ==', 'compare-kind', 0.4),

  'arithmetic-operator': row(
    'arithmetic',
    '+ and -, * and /, / and // …',
    'arithmetic-operator',
    0.8,
  ),
  'compound-operator': row('arithmetic', '+= and -=, += and = …', 'compound-operator', 0.75),
  'update-direction': row('arithmetic', '++ and --', 'update-direction', 0.5),
  'operand-swap': row('arithmetic', 'a - b and b - a', 'operand-swap', 0.6),
  'group-add': row('arithmetic', 'a + b * c to (a + b) * c', 'group-remove', 0.5),
  'group-remove': row('arithmetic', '(a + b) * c to a + b * c', 'group-add', 0.45),
  'sign-add': row('arithmetic', 'x to -x', 'sign-remove', 0.25),
  'sign-remove': row('arithmetic', '-x to x', 'sign-add', 0.45),

  'boolean-operator': row('boolean', '&& and ||, || and ??, and and or', 'boolean-operator', 0.8),
  'boolean-drop': row('boolean', 'a && b to a or to b', null, 0.35),
  'negation-add': row('boolean', 'x to !x', 'negation-remove', 0.5),
  'negation-remove': row('boolean', '!x to x', 'negation-add', 0.6),

  'integer-step': row('constants', 'n to n + 1 and n - 1', 'integer-step', 0.7),
  'number-sign': row('constants', 'n and -n', 'number-sign', 0.35),
  'number-scale': row('constants', 'n to n × 10, n × 100 and back', 'number-scale', 0.3),
  'boolean-literal': row('constants', 'true and false', 'boolean-literal', 0.6),
  'null-literal': row('constants', 'null and undefined', 'null-literal', 0.25),
  'string-blank': row('constants', 'empty string and one space', 'string-blank', 0.45),
  'string-separator': row(
    'constants',
    'separators: "," and ", ", "-" and "_" …',
    'string-separator',
    0.4,
  ),
  'string-end-space': row('constants', 'space at the end of a string', 'string-end-space', 0.15),

  'offset-add': row('boundaries', 'x to x + 1 and x - 1', 'offset-remove', 0.5),
  'offset-remove': row('boundaries', 'x + 1 and x - 1 to x', 'offset-add', 0.7),
  'slice-bound-add': row(
    'boundaries',
    's[1:] to s[1:-1], s.slice(1) to s.slice(1, -1)',
    'slice-bound-remove',
    0.25,
  ),
  'slice-bound-remove': row('boundaries', 's[1:-1] to s[1:]', 'slice-bound-add', 0.35),

  'argument-swap': row('arguments', 'f(a, b) and f(b, a)', 'argument-swap', 0.6),
  'receiver-swap': row('arguments', 'a.f(b) and b.f(a)', 'receiver-swap', 0.35),
  'argument-drop': row('arguments', 'f(a, b) to f(a)', null, 0.15),

  'variable-replace': row(
    'names',
    'a variable to another one of the scope',
    'variable-replace',
    0.55,
  ),
  'callee-replace': row(
    'names',
    'a called function to another one of the file',
    'callee-replace',
    0.3,
  ),
  'property-replace': row(
    'names',
    'a property to another one of the object (undone while the old name is still seen in the file)',
    'property-replace',
    0.45,
  ),

  'function-pair': row(
    'calls',
    'min and max, floor and ceil, push and unshift …',
    'function-pair',
    0.75,
  ),
  'call-unwrap': row('calls', 'f(x) to x', null, 0.15),
  'copy-add': row('calls', 'xs.sort() to [...xs].sort(), list = xs to a copy', 'copy-remove', 0.45),
  'copy-remove': row('calls', '[...xs].sort() to xs.sort()', 'copy-add', 0.1),
  'sort-numeric': row('calls', 'sort() to sort((a, b) => a - b)', 'sort-plain', 0.6),
  'sort-plain': row('calls', 'sort((a, b) => a - b) to sort()', 'sort-numeric', 0.1),
  'regex-flag': row('calls', 'flags g and i of a regular expression', 'regex-flag', 0.45),
  'optional-add': row('calls', 'a.b to a?.b', 'optional-remove', 0.15),
  'optional-remove': row('calls', 'a?.b to a.b', 'optional-add', 0.1),

  'return-add': row('statements', 'expression to return expression', 'return-remove', 0.6),
  'return-remove': row('statements', 'return expression to expression', 'return-add', 0.1),
  'await-add': row('statements', 'f() to await f()', 'await-remove', 0.5),
  'await-remove': row('statements', 'await f() to f()', 'await-add', 0.1),
  'new-add': row('statements', 'Foo() to new Foo()', 'new-remove', 0.5),
  'new-remove': row('statements', 'new Foo() to Foo()', 'new-add', 0.1),
  'break-continue': row('statements', 'break and continue', 'break-continue', 0.6),
  'branch-swap': row('statements', 'c ? a : b and c ? b : a', 'branch-swap', 0.5),
  'statement-remove': row('statements', 'a statement left out', null, 0.3),
  'statement-swap': row('statements', 'two neighbouring statements', 'statement-swap', 0.35),
  'statement-out': row(
    'statements',
    'last statement of a block moved behind it',
    'statement-in',
    0.4,
  ),
  'statement-in': row(
    'statements',
    'statement behind a block moved into it',
    'statement-out',
    0.25,
  ),
  'declaration-kind': row('statements', 'var and let', 'declaration-kind', 0.2),
  'mutable-default': row(
    'statements',
    'def f(x=[]) to x=None with a fresh list in the body',
    null,
    0.9,
  ),
} satisfies Record<string, OperatorRow>;

export type OperatorId = keyof typeof rows;

export const OPERATORS: Readonly<Record<OperatorId, OperatorRow>> = rows;

function row(family: string, what: string, inverse: string | null, prior: number): OperatorRow {
  return { family, what, inverse, prior };
}
