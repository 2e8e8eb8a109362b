import { describe, expect, it } from 'vitest';
import { focusDraft } from '../../../../../src/core/tasks/generate/focus.ts';
import type { Draft } from '../../../../../src/core/tasks/generate/template.ts';
import { createChance } from '../../../../../src/core/tasks/random.ts';

const SHOP: Draft = {
  name: 'shop',
  helper: { name: 'tax', source: 'export const TAX = 19;' },
  source: `import { TAX } from './tax.js';

const CENTS = 100;

// Without tax.
export function net(items) {
  return items.reduce((sum, { price }) => sum + price * CENTS, 0);
}

export const gross = (items) => net(items) * (1 + TAX / 100);

export const isEmpty = (items) => items.length === 0;`,
  cases: [
    ['adds prices', 'net([{ price: 1 }, { price: 2 }])'],
    ['is nothing at first', 'net([])'],
    ['adds tax', 'gross([{ price: 1 }])'],
    ['adds tax to nothing', 'gross([])'],
    ['compares both', 'gross([]) === net([])'],
    ['knows an empty list', 'isEmpty([])'],
  ],
};

const focusedOn = (name: string, fewest = 2): Draft | undefined => {
  for (let seed = 0; seed < 40; seed += 1) {
    const focused = focusDraft(SHOP, createChance('focus', seed), fewest);
    if (focused?.cases.every((found) => found.slice(1).join().includes(name))) return focused;
  }
  return undefined;
};

describe('a module with one export', () => {
  it('keeps what that needs, comments included, and the cases that need no other', () => {
    expect(focusedOn('net')).toEqual({
      name: 'shop',
      source: `const CENTS = 100;

// Without tax.
export function net(items) {
  return items.reduce((sum, { price }) => sum + price * CENTS, 0);
}`,
      cases: SHOP.cases.slice(0, 2),
    });
  });

  it('keeps the second file where it is used, and exports that it calls', () => {
    const focused = focusedOn('gross');
    expect(focused?.helper).toBe(SHOP.helper);
    expect(focused?.source).toContain('export function net');
    expect(focused?.source).not.toContain('isEmpty');
    expect(focused?.cases.map(([title]) => title)).toEqual([
      'adds tax',
      'adds tax to nothing',
      'compares both',
    ]);
  });

  it('is none where no export has so many cases, and where nothing would be left out', () => {
    expect(focusedOn('isEmpty')).toBeUndefined();
    expect(focusDraft(SHOP, createChance('focus', 1), 7)).toBeUndefined();
    const single = { ...SHOP, source: 'export const net = (items) => items.length;' };
    expect(focusDraft(single, createChance('focus', 1), 1)).toBeUndefined();
  });

  it('is the same for the same seed', () => {
    const focus = (): Draft | undefined => focusDraft(SHOP, createChance('focus', 3), 2);
    expect(focus()).toEqual(focus());
  });
});
