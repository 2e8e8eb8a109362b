import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toReplacement } from '../../../../../src/core/policies/edit-search/replacement.ts';
import { applyEdit, type Edit } from '../../../../../src/core/tasks/operators/edit.ts';
import { listEdits } from '../../../../../src/core/tasks/operators/list-edits.ts';

function replaceOnce(text: string, oldText: string, newText: string): string {
  const parts = text.split(oldText);
  expect(parts).toHaveLength(2);
  return parts.join(newText);
}

describe('an edit as old_str and new_str', () => {
  it('takes so many lines that the place is unique', () => {
    const source =
      'function f(a) {\n  x(a);\n  if (a < 1) {\n    return 1;\n  }\n  y(a);\n  if (a < 1) {\n    return 1;\n  }\n}\n';
    const edits = listEdits(source, 'javascript');
    expect(edits.length).toBeGreaterThan(20);
    for (const edit of edits) {
      const change = toReplacement(source, edit);
      expect(change).toBeDefined();
      if (change !== undefined) {
        expect(replaceOnce(source, change.oldText, change.newText)).toBe(applyEdit(source, edit));
      }
    }
  });

  it('does the same as the edit, or says that it cannot, for any text', () => {
    const line = fc.constantFrom('', 'a', 'b', '  a', 'ab');
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 12 }),
        fc.nat(),
        fc.nat(4),
        fc.string({ maxLength: 3 }),
        (lines, at, length, newText) => {
          const source = `${lines.join('\n')}\n`;
          const from = at % source.length;
          const to = Math.min(source.length - 1, from + length);
          if (to < from) return;
          const edit: Edit = {
            operator: 'integer-step',
            from,
            to,
            oldText: source.slice(from, to),
            newText,
            line: 1,
            description: '',
            prior: 1,
          };
          const change = toReplacement(source, edit);
          if (change === undefined) return;
          expect(source.split(change.oldText)).toHaveLength(2);
          expect(source.replace(change.oldText, () => change.newText)).toBe(
            applyEdit(source, edit),
          );
        },
      ),
    );
  });
});
