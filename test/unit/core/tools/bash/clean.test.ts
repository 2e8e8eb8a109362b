import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanOutput } from '../../../../../src/core/tools/bash/clean.ts';

const ESC = '\u001b';

describe('cleanOutput', () => {
  it.each([
    ['leaves plain text', 'a\tb\nc\n', 'a\tb\nc\n'],
    ['removes colours', `${ESC}[1;31mred${ESC}[0m`, 'red'],
    ['removes colours in the eight-bit form', '\u009b31mred', 'red'],
    ['removes cursor and mode sequences', `${ESC}[?25l${ESC}[2K${ESC}[1Aup${ESC}[?25h`, 'up'],
    ['removes a window title', `${ESC}]0;title\u0007text`, 'text'],
    ['removes a hyperlink', `${ESC}]8;;http://x${ESC}\\link${ESC}]8;;${ESC}\\`, 'link'],
    ['removes a title without an end up to the line end', `${ESC}]0;title\ntext`, '\ntext'],
    ['removes device strings', `${ESC}Pq#0;2;0${ESC}\\text`, 'text'],
    ['removes charset selection', `${ESC}(Btext${ESC}(0`, 'text'],
    ['removes two-character sequences', `${ESC}7a${ESC}8${ESC}=b${ESC}M`, 'ab'],
    ['removes other control characters', 'a\u0007\u0000\u000b\u007f\u0085b', 'ab'],
    ['reads CRLF as a line break', 'a\r\nb\r\r\nc', 'a\nb\nc'],
    ['keeps the last state of a progress bar', ' 10%\r 50%\r100%\ndone\n', '100%\ndone\n'],
    ['keeps a state that ends in a carriage return', ' 10%\r100%\r', '100%'],
    ['keeps the last state between erasures', `10%\r${ESC}[K100%${ESC}[K\n`, '100%\n'],
    ['applies backspaces of a spinner', '|\b/\b-\bdone', 'done'],
    ['applies overstrikes of a man page', 'N\bNA\bAM\bME\bE', 'NAME'],
    ['stops backspaces at the start of the line', 'a\n\b\b\bb', 'a\nb'],
  ])('%s', (_, text, expected) => {
    expect(cleanOutput(text)).toBe(expected);
  });

  const noisy = fc
    .array(
      fc.oneof(
        fc.constantFrom('\r', '\n', '\b', ESC, `${ESC}[`, `${ESC}]`, '31m', ';', '\u009b', '\\'),
        fc.string({ unit: 'binary', maxLength: 3 }),
      ),
      { maxLength: 30 },
    )
    .map((pieces) => pieces.join(''));

  it('leaves no control characters, and nothing to clean', () => {
    fc.assert(
      fc.property(noisy, (text) => {
        const clean = cleanOutput(text);
        expect(clean).not.toMatch(/(?![\n\t])\p{Cc}/u);
        expect(cleanOutput(clean)).toBe(clean);
        expect(clean.length).toBeLessThanOrEqual(text.length);
        expect(clean.split('\n').length).toBe(text.split('\n').length);
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes milliseconds for a megabyte of unfinished sequences', () => {
    const began = Date.now();
    cleanOutput(`${ESC}]`.repeat(500_000));
    cleanOutput('x\b'.repeat(500_000));
    cleanOutput('\r'.repeat(1_000_000));
    expect(Date.now() - began).toBeLessThan(5_000);
  });
});
