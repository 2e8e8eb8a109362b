import { describe, expect, it } from 'vitest';
import { runTestsLimit } from '../../../src/core/fix/tools.ts';

describe('the time of one run of tests in an attempt', () => {
  it('follows what the unchanged tests took, but is never so short that a busy machine fails it', () => {
    expect(runTestsLimit(400, 300_000)).toBe(5_000);
    expect(runTestsLimit(20_000, 300_000)).toBe(100_000);
  });

  it('never exceeds what the user allows', () => {
    expect(runTestsLimit(200_000, 300_000)).toBe(300_000);
  });
});
