import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordsToRemove } from '../../../../src/core/trajectories/retention.ts';

const record = fc.record({
  modifiedMs: fc.nat(1000),
  bytes: fc.nat(100),
  keep: fc.boolean(),
});

test('the oldest go, no more than needed, and never what is kept', () => {
  fc.assert(
    fc.property(
      fc.array(record, { maxLength: 20 }),
      fc.nat(10),
      fc.nat(500),
      (records, maxAttempts, maxBytes) => {
        const limits = { maxAttempts, maxBytes };
        const removed = recordsToRemove(records, limits);
        const rest = records.filter((item) => !removed.includes(item));
        const fits = (items: readonly { bytes: number }[]): boolean =>
          items.length <= maxAttempts &&
          items.reduce((sum, item) => sum + item.bytes, 0) <= maxBytes;
        expect(removed.some((item) => item.keep)).toBe(false);
        expect(fits(rest) || rest.every((item) => item.keep)).toBe(true);
        const youngestRemoved = removed.at(-1);
        if (youngestRemoved) expect(fits([...rest, youngestRemoved])).toBe(false);
        for (const item of rest.filter(({ keep }) => !keep)) {
          expect(item.modifiedMs).toBeGreaterThanOrEqual(youngestRemoved?.modifiedMs ?? 0);
        }
      },
    ),
  );
});
