import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDebounce } from '../../../../src/editor/attempts-view/debounce.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a stream of calls does the work again and again, not once for each and not never', () => {
  const work = vi.fn();
  const debounce = createDebounce(300, work);
  for (let at = 0; at < 100; at++) {
    debounce.call();
    vi.advanceTimersByTime(10);
  }
  expect(work.mock.calls.length).toBe(3);
  debounce.call();
  debounce.dispose();
  vi.advanceTimersByTime(1_000);
  expect(work.mock.calls.length).toBe(3);
});
