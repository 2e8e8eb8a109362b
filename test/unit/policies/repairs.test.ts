import { describe, expect, it } from 'vitest';
import { repairOf } from '../../../policies/make/repairs.ts';
import type { Conversation } from '../../../src/core/tasks/demonstrations/demonstrate.ts';
import { applyEdit } from '../../../src/core/tasks/operators/edit.ts';
import { listEdits } from '../../../src/core/tasks/operators/list-edits.ts';
import { operatorKind } from '../../../src/core/tasks/split.ts';

const MODULE = `export function total(prices, from = 0) {
  let sum = 0;
  for (let at = from; at < prices.length; at += 1) {
    sum += prices[at] * 2;
  }
  return sum - from;
}

export const mean = (prices) => total(prices) / prices.length;`;

const OPENING: Conversation = {
  id: 'a-0',
  messages: [
    { role: 'user', content: 'Make this failing test pass.' },
    {
      role: 'assistant',
      content: '',
      calls: [{ name: 'bash', arguments: { command: 'cat src/total.js' } }],
      train: true,
    },
    { role: 'tool', content: 'what stood in another file' },
    { role: 'assistant', content: '', calls: [{ name: 'submit', arguments: {} }], train: true },
  ],
};

const repair = (id: string, heldOut: ReadonlySet<string> = new Set()) =>
  repairOf(id, OPENING, MODULE, 4, heldOut);

/** The module as it is before each edit, and after the last one. */
function statesOf({ messages }: Conversation): readonly string[] {
  const states = [messages[2]?.content ?? ''];
  for (let at = 3; at < messages.length; at += 2) {
    const [edit, shown] = [messages[at], messages[at + 1]];
    if (edit?.role !== 'assistant' || shown?.role !== 'tool') throw new Error('not a pair');
    const args = edit.calls[0]?.arguments as Record<'path' | 'old_str' | 'new_str', string>;
    expect(args.path).toBe('/workspace/src/total.js');
    const before = states.at(-1) ?? '';
    expect(before.split(args.old_str)).toHaveLength(2);
    expect(args.new_str).not.toBe(args.old_str);
    const after = before.replace(args.old_str, () => args.new_str);
    for (const line of shown.content.split('\n').slice(1)) {
      const [number, ...content] = line.split('\t');
      expect(after.split('\n')[Number(number) - 1]).toBe(content.join('\t'));
    }
    states.push(after);
  }
  return states;
}

describe('a repair of real code', () => {
  it('puts the piece right, bug by bug from top to bottom, behind the opening', () => {
    for (let index = 0; index < 20; index += 1) {
      const made = repair(`repair-${index}`);
      if (made === undefined) continue;
      expect(made.messages.slice(0, 2)).toEqual(OPENING.messages.slice(0, 2));
      const states = statesOf(made);
      expect(states).toHaveLength(5);
      expect(states.at(-1)).toBe(MODULE);
      const lines = states
        .slice(1)
        .map((state, at) =>
          state.split('\n').findIndex((line, row) => line !== states[at]?.split('\n')[row]),
        );
      expect(lines).toEqual([...new Set(lines)].sort((a, b) => a - b));
    }
  });

  it('never shows a bug or a fix of an operator that is held out', () => {
    const held = new Set(['arithmetic-operator', 'integer-step', 'compare-boundary']);
    const isHeld = (from: string, to: string): boolean =>
      listEdits(from, 'javascript').some(
        (edit) => held.has(operatorKind(edit.operator)) && applyEdit(from, edit) === to,
      );
    let seen = 0;
    for (let index = 0; index < 40; index += 1) {
      const made = repair(`repair-${index}`, held);
      if (made === undefined) continue;
      const states = statesOf(made);
      for (const [at, state] of states.slice(1).entries()) {
        seen += 1;
        expect(isHeld(states[at] ?? '', state)).toBe(false);
        expect(isHeld(state, states[at] ?? '')).toBe(false);
      }
    }
    expect(seen).toBeGreaterThan(80);
    const without = Array.from({ length: 40 }, (_, index) => repair(`repair-${index}`));
    const pairs = without.flatMap((made) => {
      const states = made === undefined ? [] : statesOf(made);
      return states.slice(1).map((state, at) => [states[at] ?? '', state] as const);
    });
    expect(pairs.some(([before, after]) => isHeld(before, after))).toBe(true);
  });

  it('is the same each time', () => {
    expect(repair('repair-1')).toEqual(repair('repair-1'));
  });

  it('is left out where the piece has too few lines, or the conversation lists no module', () => {
    expect(repairOf('a', OPENING, 'export const one = 1;', 4, new Set())).toBeUndefined();
    const [user] = OPENING.messages;
    const other = { ...OPENING, messages: user ? [user] : [] };
    expect(repairOf('a', other, MODULE, 4, new Set())).toBeUndefined();
  });
});
