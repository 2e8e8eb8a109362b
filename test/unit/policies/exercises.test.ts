import { describe, expect, it } from 'vitest';
import { exerciseOf } from '../../../policies/make/exercises.ts';
import type { Conversation } from '../../../src/core/tasks/demonstrations/demonstrate.ts';

const MODULE = `export function total(prices) {
  let sum = 0;
  for (const price of prices) {
    sum += price;
  }
  return sum;
}

export const mean = (prices) => total(prices) / prices.length;`;

const OPTIONS = { shards: 1, edits: 4, scrambled: [0] as const, mostCharacters: 6000 };

function demonstration(listing: string): Conversation {
  return {
    id: 'a-0',
    messages: [
      { role: 'user', content: 'Make this failing test pass.' },
      {
        role: 'assistant',
        content: '',
        calls: [{ name: 'bash', arguments: { command: 'cat src/total.js' } }],
        train: true,
      },
      { role: 'tool', content: listing },
      { role: 'assistant', content: '', calls: [{ name: 'submit', arguments: {} }], train: true },
    ],
  };
}

describe('an exercise in copying', () => {
  it('edits lines of the module that is listed, each as it stands there, one after the other', () => {
    const exercise = exerciseOf(demonstration(MODULE), OPTIONS);
    expect(exercise?.messages.slice(0, 3)).toEqual(demonstration(MODULE).messages.slice(0, 3));
    let text = MODULE;
    const rest = exercise?.messages.slice(3) ?? [];
    expect(rest).toHaveLength(2 * OPTIONS.edits);
    for (let at = 0; at < rest.length; at += 2) {
      const [edit, observation] = [rest[at], rest[at + 1]];
      if (edit?.role !== 'assistant' || observation?.role !== 'tool') throw new Error('not a pair');
      const args = edit.calls[0]?.arguments as Record<'path' | 'old_str' | 'new_str', string>;
      expect(args.path).toBe('/workspace/src/total.js');
      expect(text.split(args.old_str)).toHaveLength(2);
      expect(args.new_str).not.toBe(args.old_str);
      text = text.replace(args.old_str, () => args.new_str);
      const shown = observation.content.split('\n').slice(1);
      expect(shown.some((line) => line.endsWith(args.new_str))).toBe(true);
      for (const line of shown) {
        const [number, ...content] = line.split('\t');
        expect(text.split('\n')[Number(number) - 1]).toBe(content.join('\t'));
      }
    }
  });

  it('can be of a module of which only the layout is left', () => {
    const exercise = exerciseOf(demonstration(MODULE), { ...OPTIONS, scrambled: [1] });
    const listing = exercise?.messages[2]?.content ?? '';
    const indents = (text: string) => text.split('\n').map((line) => /^ */.exec(line)?.[0]);
    expect(indents(listing)).toEqual(indents(MODULE));
    expect(listing).not.toMatch(/prices|sum|function|return/);
    expect(exercise?.messages).toHaveLength(3 + 2 * OPTIONS.edits);
  });

  it('is the same each time', () => {
    expect(exerciseOf(demonstration(MODULE), OPTIONS)).toEqual(
      exerciseOf(demonstration(MODULE), OPTIONS),
    );
  });

  it('is left out where the module has too few lines, or the text would be too long', () => {
    expect(exerciseOf(demonstration('export const one = 1;'), OPTIONS)).toBeUndefined();
    expect(exerciseOf(demonstration(MODULE), { ...OPTIONS, mostCharacters: 500 })).toBeUndefined();
  });
});
