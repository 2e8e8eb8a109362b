import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { insertLines, replaceOnce } from '../../../../../src/core/tools/editor/edit.ts';

const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const bytesOf = (outcome: { kind: string; bytes?: Uint8Array }): string =>
  outcome.bytes ? Buffer.from(outcome.bytes).toString('latin1') : outcome.kind;
const textOf = (outcome: { kind: string; bytes?: Uint8Array }): string =>
  outcome.bytes ? Buffer.from(outcome.bytes).toString('utf8') : outcome.kind;

describe('replaceOnce', () => {
  it('replaces the one place and says which lines changed', () => {
    const outcome = replaceOnce(utf8('a\nb\nc\nd\n'), 'b\nc', 'b\nX\nY\nc');
    expect(outcome).toMatchObject({ kind: 'edited', firstLine: 3, lastLine: 5 });
    expect(textOf(outcome)).toBe('a\nb\nX\nY\nc\nd\n');
  });

  it.each(['$&', '$1', '$`', "$'", '$$', '\\n', '\\1', '%s'])('takes %s literally', (text) => {
    expect(textOf(replaceOnce(utf8('a old b'), 'old', text))).toBe(`a ${text} b`);
  });

  it('matches CRLF with a bare line break and keeps CRLF', () => {
    expect(textOf(replaceOnce(utf8('a\r\nb\r\nc\r\n'), 'a\nb', 'a\nX\nb'))).toBe(
      'a\r\nX\r\nb\r\nc\r\n',
    );
  });

  it('takes the line ends of the place in a file with mixed ones', () => {
    const file = 'a\r\nb\r\nc\nd\n';
    expect(textOf(replaceOnce(utf8(file), 'a', '1\n2'))).toBe('1\r\n2\r\nb\r\nc\nd\n');
    expect(textOf(replaceOnce(utf8(file), 'd', '1\n2'))).toBe('a\r\nb\r\nc\n1\n2\n');
    expect(textOf(replaceOnce(utf8(file), 'b\nc\nd', 'B\nC\nD'))).toBe('a\r\nB\r\nC\nD\n');
  });

  it('keeps line ends that the model repeats but does not change', () => {
    expect(textOf(replaceOnce(utf8('a\r\nb\nc\r\n'), 'a\nb\nc', 'a\nb\nnew\nc'))).toBe(
      'a\r\nb\nnew\nc\r\n',
    );
  });

  it('writes an explicit CRLF into a place without one', () => {
    expect(textOf(replaceOnce(utf8('a\nb\n'), 'a', 'x\r\ny'))).toBe('x\r\ny\nb\n');
    expect(textOf(replaceOnce(utf8('a\r\nb\r\n'), 'a\nb', 'a\r\nc'))).toBe('a\r\nc\r\n');
    expect(textOf(replaceOnce(utf8('a\nb\n'), 'a\r\nb', 'a\r\nc'))).toBe('a\nc\n');
  });

  it('leaves lone CR alone, or reads it as line end where the file has no other', () => {
    expect(textOf(replaceOnce(utf8('a\rb\nc\n'), 'c', 'd'))).toBe('a\rb\nd\n');
    expect(textOf(replaceOnce(utf8('a\rb\rc\r'), 'a\nb', 'x\ny\nz'))).toBe('x\ry\rz\rc\r');
  });

  it('keeps a byte order mark, tabs and a missing final line end', () => {
    expect(textOf(replaceOnce(utf8('\ufeff\tif x:\n\t\ty'), '\t\ty', '\t\tz'))).toBe(
      '\ufeff\tif x:\n\t\tz',
    );
  });

  it('keeps bytes that are not UTF-8', () => {
    expect(bytesOf(replaceOnce(latin1('caf\xe9 = 1\n'), '= 1', '= 2'))).toBe('caf\xe9 = 2\n');
    const mixed = Buffer.concat([utf8('é '), latin1('\xff\xfe x\n')]);
    const outcome = replaceOnce(mixed, 'x', 'é');
    expect(bytesOf(outcome)).toBe('\xc3\xa9 \xff\xfe \xc3\xa9\n');
  });

  it('reads and writes Latin-1, and says what it cannot write', () => {
    expect(bytesOf(replaceOnce(latin1('caf\xe9\n'), 'café', 'thé'))).toBe('th\xe9\n');
    expect(replaceOnce(latin1('caf\xe9\n'), 'café', '→')).toEqual({
      kind: 'not-in-encoding',
      encoding: 'latin1',
    });
  });

  it('does not take a genuine U+FFFD for Latin-1', () => {
    expect(textOf(replaceOnce(utf8('\ufffd a\n'), 'a', '→'))).toBe('\ufffd →\n');
  });

  it('edits UTF-16 with its byte order mark, an odd last byte included', () => {
    const file = Buffer.concat([Buffer.from('\ufeffa\r\nb€\r\n', 'utf16le'), Buffer.from([7])]);
    const outcome = replaceOnce(file, 'a\nb', 'x\ny\n');
    const expected = Buffer.concat([
      Buffer.from('\ufeffx\r\ny\r\n€\r\n', 'utf16le'),
      Buffer.from([7]),
    ]);
    expect(bytesOf(outcome)).toBe(expected.toString('latin1'));
  });

  it.each([
    ['an empty old text', 'a', '', 'b', { kind: 'empty-old' }],
    ['the same text', 'a', 'a', 'a', { kind: 'identical' }],
    ['a text that is not there', 'a', 'b', 'c', { kind: 'not-found' }],
    ['other line ends only', 'a\r\nb', 'a\r\nb', 'a\nb', { kind: 'only-line-ends' }],
    ['half a surrogate pair', 'a', 'a', '\ud800', { kind: 'lone-surrogate' }],
    ['a binary file', 'a\0b', 'a', 'b', { kind: 'binary' }],
    [
      'several places',
      'x\ny\nx\n',
      'x',
      'z',
      { kind: 'several', lines: [1, 3], more: false, overlapping: false },
    ],
    [
      'overlapping places',
      'aaa',
      'aa',
      'b',
      { kind: 'several', lines: [1, 1], more: false, overlapping: true },
    ],
  ])('refuses %s', (_, file, oldText, newText, outcome) => {
    expect(replaceOnce(utf8(file), oldText, newText)).toEqual(outcome);
  });

  it('stops counting when there are very many places', () => {
    const outcome = replaceOnce(utf8('x\n'.repeat(1_000)), 'x', 'y');
    expect(outcome).toMatchObject({ kind: 'several', more: true });
  });
});

describe('insertLines', () => {
  it.each([
    ['before the first line', 'a\nb\n', 0, 'x', 'x\na\nb\n'],
    ['between lines, final line end given', 'a\nb\n', 1, 'x\ny\n', 'a\nx\ny\nb\n'],
    ['after the last line', 'a\nb\n', 2, 'x', 'a\nb\nx\n'],
    ['after a last line without an end', 'a\nb', 2, 'x\n', 'a\nb\nx'],
    ['into an empty file', '', 0, 'x', 'x\n'],
    ['an empty line', 'a\n', 1, '\n', 'a\n\n'],
    ['with CRLF', 'a\r\nb\r\n', 1, 'x\ny', 'a\r\nx\r\ny\r\nb\r\n'],
    ['with the line end of the line before', 'a\nb\r\nc\n', 2, 'x', 'a\nb\r\nx\r\nc\n'],
    ['with CR', 'a\rb\r', 1, 'x', 'a\rx\rb\r'],
    ['behind a byte order mark', '\ufeffa\n', 0, 'x', '\ufeffx\na\n'],
  ])('inserts %s', (_, file, line, text, expected) => {
    expect(textOf(insertLines(utf8(file), line, text))).toBe(expected);
  });

  it('says which lines are new', () => {
    expect(insertLines(utf8('a\nb\n'), 1, 'x\ny\n')).toMatchObject({ firstLine: 2, lastLine: 3 });
  });

  it('refuses lines that are not there and empty text', () => {
    expect(insertLines(utf8('a\n'), 2, 'x')).toEqual({ kind: 'out-of-range', lineCount: 1 });
    expect(insertLines(utf8('a\n'), -1, 'x')).toEqual({ kind: 'out-of-range', lineCount: 1 });
    expect(insertLines(utf8('a\n'), 1, '')).toEqual({ kind: 'empty-text' });
  });
});

/** Files of pieces that are easy to get wrong; as one character per byte. */
const piece = fc.constantFrom(
  ...['a', 'b', 'ab', ' ', '\t', '\n', '\n', '\r\n', '\r\n', '\r', '$&', '\\n'],
  ...['\xc3\xa9', '\xe2\x82\xac', '\xff', '\xe9', '\xc3', '\x80', '\xef\xbb\xbf'],
);
const fileBytes = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
const newText = fc
  .array(fc.constantFrom('a', 'b', 'x', '\n', '\t', '$&', '$1', '\\n', 'q'), { maxLength: 8 })
  .map((pieces) => pieces.join(''));

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const unified = (bytes: string): string => bytes.replace(/\r\n|\r/g, '\n');

describe('edits of any file', () => {
  it('replace what a naive search finds, and nothing else', () => {
    let edits = 0;
    fc.assert(
      fc.property(
        fileBytes,
        fc.nat(),
        fc.integer({ min: 1, max: 6 }),
        newText,
        (file, at, size, text) => {
          // ASCII only, so that the old text is the same in every encoding.
          const old = unified(file.slice(at % (file.length + 1)).slice(0, size));
          fc.pre(/^[\n\t\x20-\x7e]+$/.test(old));
          const lineEnd = file.includes('\n') ? '(?:\\r\\n|\\n)' : '\\r';
          const pattern = literally(old).replaceAll('\n', lineEnd);
          const found = [...file.matchAll(new RegExp(`(?=(${pattern}))`, 'g'))]
            // A match does not start between CR and LF.
            .filter(({ index }) => !(file[index] === '\n' && file[index - 1] === '\r'));
          const outcome = replaceOnce(latin1(file), old, text);
          if (old === text) expect(outcome.kind).toBe('identical');
          else if (found.length !== 1)
            expect(outcome.kind).toBe(found.length ? 'several' : 'not-found');
          else {
            const start = found[0]?.index ?? 0;
            const end = start + (found[0]?.[1]?.length ?? 0);
            const result = bytesOf(outcome);
            const before = file.slice(0, start);
            const after = file.slice(end);
            expect(result.startsWith(before)).toBe(true);
            expect(result.endsWith(after)).toBe(true);
            const middle = result.slice(before.length, result.length - after.length);
            expect(unified(middle)).toBe(text);
            edits += 1;
          }
        },
      ),
      { numRuns: 3_000 },
    );
    expect(edits).toBeGreaterThan(100);
  });

  it('insert like a list of lines', () => {
    fc.assert(
      fc.property(fileBytes, fc.nat(), newText, (file, at, text) => {
        fc.pre(text !== '');
        const bom = file.startsWith('\xef\xbb\xbf') ? 3 : 0;
        const body = file.slice(bom);
        const terminator = body.includes('\n') ? /\r\n|\n/ : /\r/;
        const lines = body.split(terminator);
        const ended = lines.at(-1) === '';
        if (ended) lines.pop();
        const line = at % (lines.length + 1);
        const added = text.replace(/\n$/, '').split('\n');
        const outcome = insertLines(latin1(file), line, text);
        const expected = [...lines];
        expected.splice(line, 0, ...added);
        const result = bytesOf(outcome).slice(bom);
        const ends = ended || lines.length === 0 ? '\n' : '';
        // A lone CR in front of a new `\n` reads as CRLF: compared without any.
        const plain = (all: string): string =>
          all.replaceAll('\r', body.includes('\n') ? '' : '\n');
        expect(plain(result)).toBe(plain(expected.join('\n') + ends));
        // What was there is still there, byte for byte, around the new lines.
        if (line === 0) expect(result.endsWith(body)).toBe(true);
        if (line === lines.length) expect(result.startsWith(body)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('keep CRLF files free of bare line breaks', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(lines, fc.nat(), newText, (all, at, text) => {
        const file = all.map((line) => `${line}\r\n`).join('');
        const old = all.slice(at % all.length, (at % all.length) + 2).join('\n');
        for (const outcome of [
          replaceOnce(utf8(file), old, text),
          insertLines(utf8(file), 1, text),
        ]) {
          if (outcome.kind === 'edited') expect(textOf(outcome)).not.toMatch(/(?<!\r)\n/);
        }
      }),
    );
  });

  it('are the same in UTF-8 and UTF-16', () => {
    const text = fc
      .array(fc.constantFrom('a', 'é', '€', '😀', '\n', '\r\n', '\t'), { maxLength: 20 })
      .map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, fc.nat(), newText, (content, at, added) => {
        const characters = [...content];
        const old = characters
          .slice(at % (characters.length + 1))
          .slice(0, 3)
          .join('');
        const expected = replaceOnce(utf8(`\ufeff${content}`), old, added);
        const little = replaceOnce(Buffer.from(`\ufeff${content}`, 'utf16le'), old, added);
        const big = replaceOnce(Buffer.from(`\ufeff${content}`, 'utf16le').swap16(), old, added);
        expect(little.kind).toBe(expected.kind);
        expect(big.kind).toBe(expected.kind);
        if (expected.kind !== 'edited' || little.kind !== 'edited' || big.kind !== 'edited') return;
        expect(Buffer.from(little.bytes).toString('utf16le')).toBe(textOf(expected));
        expect(Buffer.from(big.bytes).swap16().toString('utf16le')).toBe(textOf(expected));
        expect(little.firstLine).toBe(expected.firstLine);
      }),
      { numRuns: 500 },
    );
  });

  it('never throw', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 60 }),
        fc.string({ unit: 'binary', maxLength: 5 }),
        fc.string({ unit: 'binary', maxLength: 5 }),
        fc.integer({ min: -2, max: 9 }),
        (file, oldText, text, line) => {
          replaceOnce(file, oldText, text);
          insertLines(file, line, text);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
