import { expect, it } from 'vitest';
import {
  type Steps,
  viewAll,
  wasEdited,
} from '../../../../../src/core/policies/edit-search/steps.ts';

/** Answers each view from `answer`, and gives the result with the ranges that were asked. */
function drive<T>(steps: Steps<T>, answer: (path: string, range: unknown) => string) {
  const asked: unknown[] = [];
  let step = steps.next([]);
  while (step.done !== true) {
    if (step.value.kind !== 'turn') throw new Error('Nothing is chosen here.');
    const observations = step.value.calls.map(({ arguments: args }) => {
      asked.push([args.path, args.view_range]);
      return answer(String(args.path), args.view_range);
    });
    step = steps.next(observations);
  }
  return { result: step.value, asked };
}

it('asks for the rest of a file that is shown in parts', () => {
  const { result, asked } = drive(viewAll(['a.js'], ''), (_path, range) =>
    range === undefined
      ? '     1\tone\n     2\t\n[lines 1-2 of 3; to see more, view with view_range [3, 3]]'
      : '     3\t\tthree\there',
  );
  expect([...result]).toEqual([['a.js', 'one\n\n\tthree\there\n']]);
  expect(asked).toEqual([
    ['/workspace/a.js', undefined],
    ['/workspace/a.js', [3, -1]],
  ]);
});

it('leaves out what it cannot see as it is', () => {
  const { result } = drive(viewAll(['gone.js', 'cut.js', 'good.js'], ''), (path) => {
    if (path.includes('gone')) return '/workspace/gone.js does not exist.';
    if (path.includes('cut')) return '     1\tabc [… 12,345 characters left out …]';
    return '     1\tx';
  });
  expect([...result.keys()]).toEqual(['good.js']);
});

it('sees whether an edit was made', () => {
  expect(wasEdited('Edited /workspace/a.js:\n     1\tx')).toBe(true);
  expect(wasEdited('old_str did not appear')).toBe(false);
  expect(wasEdited(undefined)).toBe(false);
});
