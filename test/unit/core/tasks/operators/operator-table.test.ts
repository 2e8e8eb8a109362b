import { describe, expect, it } from 'vitest';
import { listEdits } from '../../../../../src/core/tasks/operators/list-edits.ts';
import { OPERATORS } from '../../../../../src/core/tasks/operators/operator-table.ts';
import { corpus } from './corpus.ts';

describe('the table of operators', () => {
  it('names for each inverse an operator that names it back', () => {
    for (const [id, row] of Object.entries(OPERATORS)) {
      if (row.inverse === null) continue;
      const inverse = Object.entries(OPERATORS).find(([other]) => other === row.inverse)?.[1];
      expect([id, inverse?.inverse]).toEqual([id, id]);
    }
  });

  it('has no operator that no real source shows', () => {
    const extra = [
      [
        'javascript',
        'const f = (a) => { xs.push(-a); xs.sort(); [...xs].sort((a, b) => a - b); return -a; };',
      ],
      [
        'javascript',
        'const v = a == b, g = a + b * 2, t = a.localeCompare(b), u = /x/, w = F(1), z = Foo(1);',
      ],
      ['python', 'x = xs[1:-1]\nx = xs[1:]\nn = 10\n'],
    ] as const;
    const seen = new Set<string>();
    for (const file of corpus())
      for (const e of listEdits(file.text, file.language)) seen.add(e.operator);
    for (const [language, text] of extra)
      for (const e of listEdits(text, language)) seen.add(e.operator);
    expect(Object.keys(OPERATORS).filter((id) => !seen.has(id))).toEqual([]);
  });
});
