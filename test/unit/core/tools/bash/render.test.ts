import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ExecEnd, ExecOutput } from '../../../../../src/core/sandbox/sandbox.ts';
import {
  observationSamples,
  renderOutput,
  renderShell,
} from '../../../../../src/core/tools/bash/render.ts';

const output = (
  head: string | Uint8Array,
  tail: string | Uint8Array = '',
  omittedBytes = 0,
): ExecOutput => ({
  head: Buffer.from(head),
  tail: Buffer.from(tail),
  omittedBytes,
});
const exited = (code: number): ExecEnd => ({ kind: 'exited', code });

describe('renderShell', () => {
  it('shows output alone for exit code 0', () => {
    expect(renderShell({ end: exited(0), output: output('a\nb\n\n') }, 60)).toBe('a\nb');
  });

  it('says when nothing was printed, and the exit code when it is not 0', () => {
    expect(renderShell({ end: exited(0), output: output('\n') }, 60)).toBe('(no output)');
    expect(renderShell({ end: exited(2), output: output('') }, 60)).toBe(
      '(no output)\n[exit code 2]',
    );
  });

  it('keeps what was printed before a timeout', () => {
    expect(renderShell({ end: { kind: 'timeout' }, output: output('half') }, 60)).toBe(
      'half\n[timed out after 60 s; its processes were ended]',
    );
  });

  it('shows invalid UTF-8 as replacement characters', () => {
    expect(
      renderOutput(output(Buffer.from('a\xff\xc3b', 'latin1')), { maxChars: 99, lineChars: 99 }),
    ).toBe('a\ufffd\ufffdb');
  });

  it('cuts in the middle, on line borders, and counts the bytes', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
    const text = renderOutput(output(lines.join('\n')), { maxChars: 100, lineChars: 50 });
    const [first, last] = text
      .split(/\n\[… ([\d,]+) bytes left out …\]\n/)
      .filter((_, i) => i !== 1);
    expect(first?.split('\n').every((line) => lines.includes(line))).toBe(true);
    expect(last?.split('\n').every((line) => lines.includes(line))).toBe(true);
    expect(text.startsWith('line 0\n')).toBe(true);
    expect(text.endsWith('\nline 99')).toBe(true);
    const left = Number(/… ([\d,]+) bytes/.exec(text)?.[1]?.replace(',', ''));
    expect(left).toBe(lines.join('\n').length - `${first}\n${last}`.length);
  });

  it('counts what the sandbox left out as well', () => {
    expect(
      renderOutput(output('start\n', 'end\n', 1_234_567), { maxChars: 100, lineChars: 50 }),
    ).toBe('start\n[… 1,234,567 bytes left out …]\nend');
  });

  it('drops halves of characters where the sandbox cut', () => {
    const euro = Buffer.from('€');
    const text = renderOutput(
      output(
        Buffer.concat([Buffer.from('a'), euro.subarray(0, 2)]),
        Buffer.concat([euro.subarray(1), Buffer.from('b')]),
        10,
      ),
      { maxChars: 100, lineChars: 50 },
    );
    expect(text).toBe('a\n[… 10 bytes left out …]\nb');
  });

  it('cuts long lines in their middle', () => {
    const text = renderOutput(output(`${'a'.repeat(500)}${'b'.repeat(500)}\nnext`), {
      maxChars: 1_000,
      lineChars: 20,
    });
    expect(text).toBe(`${'a'.repeat(10)}[… 980 bytes left out …]${'b'.repeat(10)}\nnext`);
  });

  it('never throws, stays within its bound, holds no control characters', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 400 }),
        fc.uint8Array({ maxLength: 400 }),
        fc.nat({ max: 5 }),
        fc.integer({ min: 2, max: 200 }),
        fc.integer({ min: 2, max: 60 }),
        (head, tail, omitted, maxChars, lineChars) => {
          const cut = { head, tail: omitted > 0 ? tail : new Uint8Array(0), omittedBytes: omitted };
          const text = renderOutput(cut, { maxChars, lineChars });
          expect(text.length).toBeLessThanOrEqual(maxChars + 40);
          expect(text).not.toMatch(/(?![\n\t])\p{Cc}/u);
          expect(text).not.toMatch(/\p{Cs}/u);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('never splits an emoji', () => {
    fc.assert(
      fc.property(fc.nat({ max: 60 }), fc.integer({ min: 4, max: 40 }), (size, maxChars) => {
        const text = renderOutput(output('😀'.repeat(size)), { maxChars, lineChars: 24 });
        expect(text).not.toMatch(/\p{Cs}/u);
      }),
    );
  });
});

it('has a sample of every template', () => {
  expect(observationSamples()).toMatchInlineSnapshot(`
    {
      "cancelled": "waiting
    [cancelled; its processes were ended]",
      "cut": "one
    two
    [… 16 bytes left out …]
    six
    seven",
      "cutInSandbox": "one
    tw
    [… 12,345 bytes left out …]
    ree
    four",
      "exitCode": "no such file
    [exit code 1]",
      "longLine": "abcd[… 4 bytes left out …]ijkl",
      "nothing": "(no output)",
      "nul": "The command has a NUL character in it, which no shell can read. Use \\0 in printf instead.",
      "output": "100%
    red",
      "restarted": "The shell was restarted.",
      "timeout": "waiting
    [timed out after 60 s; its processes were ended]",
    }
  `);
});
