import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRateLimit } from '../../../server/src/auth/rate-limit.ts';

test('a bucket is full at first, empties, and says how long until the next', () => {
  let now = 1_000;
  const rate = createRateLimit(60, () => now);
  for (let count = 0; count < 60; count++) expect(rate.take('a')).toEqual({ ok: true });
  expect(rate.take('a')).toEqual({ ok: false, retryAfterMs: 1_000 });
  expect(rate.left('a')).toBe(false);
  now += 999;
  expect(rate.take('a').ok).toBe(false);
  now += 1;
  expect(rate.take('a')).toEqual({ ok: true });
  expect(rate.take('a').ok).toBe(false);
  // Others have buckets of their own.
  expect(rate.take('b')).toEqual({ ok: true });
});

test('whatever comes when, no more than the rate and one full bucket is let through, and waiting helps', () => {
  const steps = fc.array(fc.tuple(fc.nat(20_000), fc.nat(50)), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), steps, (perMinute, moves) => {
      let now = 0;
      let taken = 0;
      const rate = createRateLimit(perMinute, () => now);
      for (const [wait, tries] of moves) {
        now += wait;
        for (let count = 0; count < tries; count++) {
          const left = rate.left('a');
          const result = rate.take('a');
          expect(result.ok).toBe(left);
          if (result.ok) taken += 1;
          else {
            expect(result.retryAfterMs).toBeGreaterThan(0);
            expect(result.retryAfterMs).toBeLessThanOrEqual(60_000 / perMinute + 1);
          }
        }
        expect(taken).toBeLessThanOrEqual(perMinute + (now * perMinute) / 60_000 + 1e-6);
      }
    }),
  );
});

test('a flood of keys takes bounded memory, and does not free the one that is used', () => {
  const rate = createRateLimit(2, () => 0);
  rate.take('used');
  rate.take('used');
  for (let count = 0; count < 30_000; count++) {
    rate.take(`key ${count}`);
    if (count % 1_000 === 0) expect(rate.left('used')).toBe(false);
  }
  // Forgotten, and so as good as new: the price of a bound.
  expect(rate.take('key 0')).toEqual({ ok: true });
  expect(rate.take('key 0')).toEqual({ ok: true });
});
