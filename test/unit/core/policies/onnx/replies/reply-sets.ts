import fc from 'fast-check';
import type { WeightedReply } from '../../../../../../src/core/policies/onnx/replies/reply-set.ts';

export const STOP = 2;

/** Sets of replies that all end with STOP, none twice, with weights. */
export function replySets(size: {
  readonly minLength: number;
  readonly maxLength: number;
}): fc.Arbitrary<readonly WeightedReply[]> {
  return fc
    .uniqueArray(fc.array(fc.integer({ min: 3, max: 6 }), { minLength: 1, maxLength: 5 }), {
      ...size,
      selector: (ids) => ids.join(),
    })
    .chain((replies) =>
      fc.tuple(
        ...replies.map((ids) =>
          fc
            .double({ min: 0.01, max: 9, noNaN: true })
            .map((weight) => ({ ids: [...ids, STOP], weight })),
        ),
      ),
    );
}
