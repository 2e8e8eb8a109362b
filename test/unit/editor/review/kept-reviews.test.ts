import { expect, it } from 'vitest';
import { KEPT_REVIEWS } from '../../../../src/editor/review/has-kept-reviews.ts';
import { keptReviews } from '../../../../src/editor/review/kept-reviews.ts';
import { createFakeContext } from '../../../support/fake-vs.ts';

it.each([
  ['of another version', [{ folder: 'file:///a', input: { id: 'x' } }]],
  ['that is no list', 'reviews'],
  ['of a folder that is not open', []],
])('a kept review %s is left alone', async (_name, state) => {
  const { workspaceState } = createFakeContext('/nowhere').context;
  await workspaceState.update(KEPT_REVIEWS, state);
  expect(keptReviews(workspaceState, [])).toEqual([]);
});
