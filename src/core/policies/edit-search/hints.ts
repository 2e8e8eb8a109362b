import type { OperatorId } from '../../tasks/operators/operator-table.ts';
import type { FailureBlock } from './failures.ts';

/** Factors on an operator's likelihood; missing: 1. */
export type Hints = ReadonlyMap<OperatorId, number>;

const BOUNDARY: readonly OperatorId[] = [
  'compare-boundary',
  'integer-step',
  'offset-add',
  'offset-remove',
  'slice-bound-add',
  'slice-bound-remove',
];
const SIGN: readonly OperatorId[] = [
  'sign-add',
  'sign-remove',
  'operand-swap',
  'number-sign',
  'arithmetic-operator',
  'compound-operator',
];
const LOGIC: readonly OperatorId[] = [
  'compare-boundary',
  'compare-negate',
  'compare-direction',
  'boolean-operator',
  'boolean-drop',
  'boolean-literal',
  'negation-add',
  'negation-remove',
];
const ORDER: readonly OperatorId[] = [
  'operand-swap',
  'compare-direction',
  'receiver-swap',
  'sort-numeric',
  'number-sign',
  'sign-add',
  'sign-remove',
  'function-pair',
  'statement-swap',
  'branch-swap',
];
const NAMES: readonly OperatorId[] = [
  'variable-replace',
  'property-replace',
  'callee-replace',
  'return-add',
  'await-add',
  'new-add',
  'statement-swap',
];
const TEXT: readonly OperatorId[] = [
  'string-blank',
  'string-separator',
  'string-end-space',
  'function-pair',
  'regex-flag',
];

/** What the difference between expected and actual says about the kind of bug. */
export function hintsOf(failures: readonly FailureBlock[]): Hints {
  const hints = new Map<OperatorId, number>();
  const raise = (operators: readonly OperatorId[], factor: number) => {
    for (const operator of operators)
      hints.set(operator, Math.max(hints.get(operator) ?? 0, factor));
  };
  for (const failure of failures) {
    const { expected, actual, message } = failure;
    const everything = `${message}\n${expected ?? ''}\n${actual ?? ''}`;
    if (/Promise|coroutine/.test(actual ?? message)) {
      raise(['await-add'], 4);
      raise(['return-add'], 2);
    }
    if (/without 'new'/.test(everything)) raise(['new-add'], 5);
    if (
      /TypeError|AttributeError|ReferenceError|NameError|KeyError|UnboundLocalError/.test(message)
    )
      raise(NAMES, 1.7);
    if (/IndexError|RangeError|out of range/.test(message)) raise(BOUNDARY, 1.7);
    if (/RecursionError|call stack|timed out/i.test(message))
      raise([...BOUNDARY, 'compound-operator', 'update-direction', 'arithmetic-operator'], 1.5);
    if (/Missing expected|DID NOT RAISE|did not throw|NotRaised/i.test(everything))
      raise([...LOGIC, 'integer-step', 'await-add', 'return-add'], 1.6);
    if (/^(?:undefined|null|None|NaN)$/.test((actual ?? '').trim())) raise(NAMES, 1.8);
    if (expected === undefined || actual === undefined) continue;
    compareValues(expected.trim(), actual.trim(), raise);
  }
  return hints;
}

function compareValues(
  expected: string,
  actual: string,
  raise: (operators: readonly OperatorId[], factor: number) => void,
): void {
  const [a, b] = [asNumber(expected), asNumber(actual)];
  if (a !== undefined && b !== undefined) {
    if (Math.abs(a - b) === 1) raise(BOUNDARY, 1.7);
    if (a === -b && a !== 0) raise(SIGN, 1.8);
    const ratio = Math.abs(b === 0 ? 0 : a / b);
    if ([10, 100, 1000].some((f) => near(ratio, f) || near(ratio, 1 / f)))
      raise(['number-scale', 'arithmetic-operator', 'call-unwrap'], 2);
    if (Math.abs(a - b) < 1) raise(['function-pair', 'call-unwrap', 'arithmetic-operator'], 1.6);
    raise(
      [
        'arithmetic-operator',
        'compound-operator',
        'group-add',
        'variable-replace',
        'property-replace',
      ],
      1.2,
    );
    return;
  }
  if (isTruth(expected) && isTruth(actual)) {
    raise(LOGIC, 1.5);
    return;
  }
  const [first, second] = [items(expected), items(actual)];
  if (first !== undefined && second !== undefined) {
    const [x, y] = [sorted(first), sorted(second)];
    if (first.length > 1 && x === y) raise(ORDER, 1.9);
    else if (Math.abs(first.length - second.length) === 1) raise(BOUNDARY, 1.5);
    if (first.length !== second.length)
      raise([...LOGIC, 'function-pair', 'statement-out', 'statement-in'], 1.25);
    return;
  }
  if (expected.replace(/\s+/g, '') === actual.replace(/\s+/g, ''))
    raise([...TEXT, ...BOUNDARY, 'number-sign'], 1.7);
  else if (expected.toLowerCase() === actual.toLowerCase())
    raise(['function-pair', ...BOUNDARY], 1.7);
  else if (/^['"`]/.test(expected) && /^['"`]/.test(actual)) {
    raise(TEXT, 1.35);
    if (Math.abs(expected.length - actual.length) === 1) raise(BOUNDARY, 1.4);
  }
}

function near(a: number, b: number): boolean {
  return Math.abs(a - b) < b * 0.02;
}

function asNumber(text: string): number | undefined {
  return /^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i.test(text) ? Number(text) : undefined;
}

function isTruth(text: string): boolean {
  return /^(?:true|false)$/i.test(text);
}

/** Elements of a printed list, in either language; nested ones are good enough as text. */
function items(text: string): readonly string[] | undefined {
  const inner = /^[[(]([\s\S]*)[\])]$/.exec(text)?.[1];
  if (inner === undefined) return undefined;
  return inner
    .split(/,|\n/)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function sorted(list: readonly string[]): string {
  return [...list].sort().join('\n');
}
