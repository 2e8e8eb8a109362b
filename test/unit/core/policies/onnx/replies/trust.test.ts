import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTrust } from '../../../../../../src/core/policies/onnx/replies/trust.ts';

test('who was surer of an edit that did not help loses more', () => {
  const trust = createTrust(0.5);
  trust.failed(0.1, 0.5);
  // Bayes: 0.5 · 0.9 against 0.5 · 0.5.
  expect(trust.inScores()).toBeCloseTo(0.9 / 1.4);
  trust.failed(0.4, 0);
  expect(trust.inScores()).toBeCloseTo((0.9 * 0.6) / (0.9 * 0.6 + 0.5));
});

test('where both say the same nothing changes, and who was not trusted at all stays so', () => {
  const probability = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.double({ min: 0.01, max: 0.99, noNaN: true }), probability, (atFirst, given) => {
      const trust = createTrust(atFirst);
      trust.failed(given, given);
      expect(trust.inScores()).toBeCloseTo(atFirst, 9);
    }),
  );
  fc.assert(
    fc.property(fc.constantFrom(0, 1), probability, probability, (atFirst, scores, network) => {
      const trust = createTrust(atFirst);
      trust.failed(scores, network);
      expect(trust.inScores()).toBe(atFirst);
    }),
  );
});
