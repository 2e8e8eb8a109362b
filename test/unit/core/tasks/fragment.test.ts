import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toFragment } from '../../../../src/core/tasks/demonstrations/fragment.ts';

const SOURCE = `export function clamp(value, low, high) {
  if (value < low) return low;
  if (value > high) return low;
  return value;
}
`;

function edit(oldText: string, newText: string, nth = 0) {
  let from = SOURCE.indexOf(oldText);
  for (let at = 0; at < nth; at += 1) from = SOURCE.indexOf(oldText, from + 1);
  return { from, to: from + oldText.length, newText };
}

describe('an edit as a fragment of a line', () => {
  it('begins with the word that changes, with the space before it, and goes to the end of the line', () => {
    expect(toFragment(SOURCE, edit('>', '>='))).toEqual({
      oldText: ' > high) return low;',
      newText: ' >= high) return low;',
    });
  });

  it('begins at a word before where the rest of the line stands in the file twice', () => {
    expect(toFragment(SOURCE, edit('low', 'high', 3))).toEqual({
      oldText: ' high) return low;',
      newText: ' high) return high;',
    });
  });

  it('is in whole lines where no line of the file is like that', () => {
    const twice = `${SOURCE}${SOURCE}last();\n`;
    const at = twice.lastIndexOf('value;');
    const fragment = toFragment(twice, { from: at, to: at + 5, newText: 'low' });
    expect(fragment?.oldText).toContain('\n');
    expect(fragment?.oldText).toMatch(/^ {2}/);
  });

  it('replaced in the file is the edit, wherever it is', () => {
    fc.assert(
      fc.property(fc.nat(SOURCE.length - 1), fc.nat(8), fc.string(), (from, length, newText) => {
        const to = Math.min(from + length, SOURCE.length);
        const fragment = toFragment(SOURCE, { from, to, newText });
        if (fragment === undefined) return;
        expect(SOURCE.split(fragment.oldText)).toHaveLength(2);
        expect(SOURCE.replace(fragment.oldText, () => fragment.newText)).toBe(
          SOURCE.slice(0, from) + newText + SOURCE.slice(to),
        );
      }),
    );
  });
});
