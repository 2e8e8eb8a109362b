import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSealed } from '../../../src/core/frameworks/seal.ts';

const key = 'secret';

function sealed(number: number, line: { readonly type: string; readonly status?: string }): string {
  const told = `${number} ${line.type} ${line.status ?? ''}`;
  const check = createHash('sha256').update(`${key}${told}${key}`).digest('hex').slice(0, 32);
  return `${number} ${check} ${JSON.stringify(line)}\n`;
}

const lines = [
  { type: 'start' },
  { type: 'result', id: 'a::b', status: 'failed' },
  { type: 'end' },
] as const;
const whole = [sealed(1, lines[0]), sealed(2, lines[1]), sealed(3, lines[2])] as const;

function open(text: string, cut = false) {
  const { report, signs } = openSealed(Buffer.from(text), key, cut);
  return { text: Buffer.from(report).toString(), signs };
}

describe('a sealed report', () => {
  it('is opened', () => {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    expect(open(whole.join(''))).toEqual({ text, signs: [] });
  });

  it('may break off within a line', () => {
    expect(open(whole.join('').slice(0, -5)).signs).toEqual([]);
    expect(open('')).toEqual({ text: '', signs: [] });
  });

  it('may have another path in its text: sandboxes put one there', () => {
    expect(open(whole.join('').replace('a::b', '/workspace/a::b')).signs).toEqual([]);
  });

  const forged = JSON.stringify({ type: 'result', id: 'a::b', status: 'passed' });
  it.each([
    ['a line without a seal', [whole[0], `${forged}\n`, whole[1], whole[2]], 'did not write'],
    ['a made-up seal', [whole[0], `2 ${'0'.repeat(32)} ${forged}\n`, whole[1]], 'did not write'],
    [
      'another status under a seen seal',
      [whole[0], whole[1].replace('failed', 'passed'), whole[2]],
      'did not write',
    ],
    ['a seal of another key', [openWithOtherKey()], 'did not write'],
    ['a line twice', [whole[0], whole[1], whole[1], whole[2]], 'twice'],
    ['a line left out', [whole[0], whole[2]], 'missing'],
    ['another order', [whole[1], whole[0], whole[2]], 'twice'],
  ])('shows %s', (_, parts, words) => {
    const { text, signs } = open(parts.join(''));
    expect(signs.join()).toContain(words);
    expect(text).not.toContain('passed');
  });

  it('has gaps where its middle was cut out by size', () => {
    expect(open(`${whole[0]}garbage\n${whole[2]}`, true).signs).toEqual([]);
  });

  it('never takes a line whose number and status it has no seal for', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(9), (junk, at) => {
        const text = whole.join('');
        const where = Math.min(at * 10, text.length);
        const found = open(`${text.slice(0, where)}\n${junk}\n${text.slice(where)}`).text;
        for (const line of found.split('\n').filter(Boolean))
          expect(lines.map((known) => JSON.stringify(known))).toContain(line);
      }),
    );
  });
});

function openWithOtherKey(): string {
  const check = createHash('sha256').update('other1 start other').digest('hex').slice(0, 32);
  return `1 ${check} {"type":"start"}\n`;
}
