import { expect, it } from 'vitest';
import type { FailureBlock } from '../../../../../src/core/policies/edit-search/failures.ts';
import { hintsOf } from '../../../../../src/core/policies/edit-search/hints.ts';
import type { OperatorId } from '../../../../../src/core/tasks/operators/operator-table.ts';

function failure(parts: Partial<FailureBlock>): FailureBlock {
  return {
    id: 'a::b',
    kind: 'test',
    expected: undefined,
    actual: undefined,
    message: '',
    at: undefined,
    inside: undefined,
    ...parts,
  };
}

const cases: readonly (readonly [string, Partial<FailureBlock>, OperatorId, OperatorId])[] = [
  ['off by one', { expected: '12', actual: '11' }, 'compare-boundary', 'sign-add'],
  ['the opposite sign', { expected: '5', actual: '-5' }, 'operand-swap', 'compare-boundary'],
  ['a factor of 100', { expected: '1200', actual: '12' }, 'number-scale', 'compare-boundary'],
  [
    'nothing instead of a value',
    { expected: '3', actual: 'undefined' },
    'return-add',
    'arithmetic-operator',
  ],
  [
    'a promise instead of a value',
    { expected: '3', actual: 'Promise { 3 }' },
    'await-add',
    'return-add',
  ],
  [
    'an unknown name',
    { message: "TypeError: Cannot read properties of undefined (reading 'x')" },
    'property-replace',
    'compare-boundary',
  ],
  [
    'another order',
    { expected: '[ 1, 2, 3 ]', actual: '[ 3, 2, 1 ]' },
    'operand-swap',
    'compare-boundary',
  ],
  [
    'yes instead of no',
    { expected: 'true', actual: 'false' },
    'boolean-operator',
    'arithmetic-operator',
  ],
  ['other blanks', { expected: "'a b'", actual: "'ab'" }, 'string-blank', 'arithmetic-operator'],
  ['no exception', { message: 'Missing expected exception.' }, 'compare-boundary', 'string-blank'],
];

it.each(cases)('%s points to the right kind of edit', (_name, parts, likely, unlikely) => {
  const hints = hintsOf([failure(parts)]);
  expect(hints.get(likely) ?? 1).toBeGreaterThan(hints.get(unlikely) ?? 1);
});

it('says nothing where nothing is known', () => {
  expect(hintsOf([failure({ message: 'boom' })]).size).toBe(0);
});
