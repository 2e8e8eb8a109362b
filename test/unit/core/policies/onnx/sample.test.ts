import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uniform } from '../../../../../src/core/policies/onnx/worker/random.ts';
import {
  choiceLogprob,
  sampleChoice,
  sampleToken,
  sampleWeighted,
} from '../../../../../src/core/policies/onnx/worker/sample.ts';

const ALL = { temperature: 1, topP: 1, topK: -1 };
/** Probabilities 0.5, 0.3, 0.15, 0.05. */
const peaked = Float32Array.from([0.5, 0.3, 0.15, 0.05], Math.log);

function counts(rule: typeof ALL, draws: number): number[] {
  const seen = [0, 0, 0, 0];
  for (let place = 0; place < draws; place += 1) {
    const { id } = sampleToken(peaked, rule, uniform(1, place));
    seen[id] = (seen[id] ?? 0) + 1;
  }
  return seen;
}

test.each([
  ['as it is', ALL, [0.5, 0.3, 0.15, 0.05]],
  // Squares of the probabilities, normalised.
  ['colder', { ...ALL, temperature: 0.5 }, [0.25, 0.09, 0.0225, 0.0025].map((p) => p / 0.365)],
  ['top 2', { ...ALL, topK: 2 }, [0.625, 0.375, 0, 0]],
  ['top p 0.6: the token that crosses the line is in', { ...ALL, topP: 0.6 }, [0.625, 0.375, 0, 0]],
  // Of all, 0.5 would not be enough and a second token would stay.
  ['top p of what top k left', { ...ALL, topK: 3, topP: 0.51 }, [1, 0, 0, 0]],
  ['top p that one token fills', { ...ALL, topP: 0.4 }, [1, 0, 0, 0]],
])('the distribution of draws and its log-probabilities: %s', (_, rule, expected) => {
  const draws = 20_000;
  let chiSquare = 0;
  for (const [id, count] of counts(rule, draws).entries()) {
    const wanted = (expected[id] ?? 0) * draws;
    if (wanted === 0) expect(count).toBe(0);
    else chiSquare += (count - wanted) ** 2 / wanted;
  }
  // 3 degrees of freedom: 16.3 is passed by chance once in a thousand; these draws never change.
  expect(chiSquare).toBeLessThan(16.3);
  for (const chance of [0, 0.2, 0.61, 0.9, 1 - 2 ** -53]) {
    const { id, logprob } = sampleToken(peaked, rule, chance);
    expect(Math.exp(logprob)).toBeCloseTo(expected[id] ?? 0, 6);
  }
});

test('temperature 0 takes the most likely token, with probability 1', () => {
  const draw = sampleToken(Float32Array.of(-3, 4, 4, 1), { ...ALL, temperature: 0 }, 0.99);
  expect(draw).toEqual({ id: 1, logprob: 0 });
});

test('every draw has a probability above 0 and below or equal 1', () => {
  fc.assert(
    fc.property(
      fc.array(fc.float({ min: -200, max: 200, noNaN: true }), { minLength: 1, maxLength: 30 }),
      fc.record({
        temperature: fc.double({ min: 0.05, max: 5, noNaN: true }),
        topP: fc.double({ min: 0.01, max: 1, noNaN: true }),
        topK: fc.integer({ min: -1, max: 40 }),
      }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (logits, rule, chance) => {
        const { id, logprob } = sampleToken(Float32Array.from(logits), rule, chance);
        expect(id).toBeGreaterThanOrEqual(0);
        expect(id).toBeLessThan(logits.length);
        expect(logprob).toBeLessThanOrEqual(0);
        expect(logprob).toBeGreaterThan(Number.NEGATIVE_INFINITY);
      },
    ),
  );
});

test('weights are drawn from as a softmax of their logarithms would be', () => {
  const weights = [5, 3, 1.5, 0.5];
  const draws = 20_000;
  for (const temperature of [1, 0.5]) {
    const seen = [0, 0, 0, 0];
    for (let place = 0; place < draws; place += 1) {
      const index = sampleWeighted(weights, { temperature }, uniform(2, place));
      seen[index] = (seen[index] ?? 0) + 1;
    }
    const powers = weights.map((weight) => weight ** (1 / temperature));
    const total = powers.reduce((sum, power) => sum + power, 0);
    for (const [index, power] of powers.entries()) {
      expect((seen[index] ?? 0) / draws).toBeCloseTo(power / total, 1.5);
    }
  }
  expect(sampleWeighted([1, 4, 4], { temperature: 0 }, 0.99)).toBe(1);
  // Powers of so many digits are no numbers any more.
  expect(sampleWeighted([1e-300, 1e300], { temperature: 0.01 }, 0.5)).toBe(1);
});

test('what an id of a choice is drawn with is told, whoever drew it', () => {
  const logits = Float32Array.from([0, 2, -1, 0.5]);
  const choice = { ids: [3, 1, 2], bias: [-0.5, -1, -0.1] };
  fc.assert(
    fc.property(fc.constantFrom(0.3, 1, 2), fc.nat(999), (temperature, at) => {
      const { id, logprob } = sampleChoice(logits, choice, { temperature }, at / 1000);
      expect(choiceLogprob(logits, choice, { temperature }, id)).toBeCloseTo(logprob, 6);
    }),
  );
  const all = choice.ids.map((id) => Math.exp(choiceLogprob(logits, choice, ALL, id)));
  expect(all.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 9);
  expect(choiceLogprob(logits, choice, { temperature: 0 }, 1)).toBe(
    choiceLogprob(logits, choice, ALL, 1),
  );
});
