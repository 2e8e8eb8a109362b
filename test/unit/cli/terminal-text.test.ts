import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitLine, wrapLine } from '../../../src/cli/render/terminal-text.ts';
import { escapeControls } from '../../../src/core/platform/escape-controls.ts';

describe('text from files on a terminal', () => {
  it('shows what would move the cursor, set colours or reorder text', () => {
    expect(escapeControls('a\x1b[2J\x07b\r\nc\rd\u009be\u202ef\tg')).toBe(
      'a\\x1b[2J\\x07b\nc\\x0dd\\x9be\\u202ef\tg',
    );
  });

  it('never lets a control character through', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(escapeControls(text)).not.toMatch(/[^\P{Cc}\n\t]/u);
      }),
    );
  });

  it('leaves letters of every language as they are', () => {
    expect(escapeControls('naïve 漢字 עברית 👍🏽')).toBe('naïve 漢字 עברית 👍🏽');
  });
});

describe('a line that must not wrap', () => {
  it('is cut with an ellipsis within its columns, wide characters counted twice', () => {
    expect(fitLine('a short line', 20)).toBe('a short line');
    expect(fitLine('exactly ten', 11)).toBe('exactly ten');
    expect(fitLine('a longer line', 8)).toBe('a longe…');
    expect(fitLine('漢字漢字', 6)).toBe('漢字…');
  });

  it('is one line, whatever it holds', () => {
    expect(fitLine('one\n two\r\n\tthree', 80)).toBe('one two three');
  });
});

describe('a long line', () => {
  it('is broken between words, with its beginning and the indent kept', () => {
    expect(wrapLine('  the quick brown fox', 12, '    ')).toBe('  the quick\n    brown\n    fox');
  });

  it('keeps a word that is longer than a line whole', () => {
    expect(wrapLine('see /a/very/long/path now', 8, '  ')).toBe('see\n  /a/very/long/path\n  now');
  });
});
