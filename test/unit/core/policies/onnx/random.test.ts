import { expect, test } from 'vitest';
import { philox, uniform } from '../../../../../src/core/policies/onnx/worker/random.ts';

// From the authors' own list of known answers (Random123, kat_vectors, philox2x32 10).
test.each([
  [0, 0, 0, 0xff1dae59, 0x6cd10df2],
  [0xffffffff, 0xffffffff, 0xffffffff, 0x2c3f628b, 0xab4fd7ad],
  [0x13198a2e, 0x243f6a88, 0x85a308d3, 0xdd7ce038, 0xf62a4c12],
])('philox with key %i', (key, low, high, a, b) => {
  expect(philox(key, low, high)).toEqual([a, b]);
});

test('draws are spread evenly, and differ by seed and place, also of large seeds', () => {
  const bins = Array(10).fill(0);
  const seen = new Set<number>();
  for (let seed = 0; seed < 100; seed += 1) {
    for (let place = 0; place < 100; place += 1) {
      const value = uniform(seed * 0x1_0000_0001, place);
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThan(1);
      seen.add(value);
      bins[Math.floor(value * 10)] += 1;
    }
  }
  expect(seen.size).toBe(10_000);
  const chiSquare = bins.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
  // 9 degrees of freedom: 27.9 is passed by chance once in a thousand; these draws never change.
  expect(chiSquare).toBeLessThan(27.9);
});
