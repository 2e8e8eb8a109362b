import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCsv, stringifyCsv } from '../src/index.js';

describe('parseCsv', () => {
  it('reads rows with both line endings', () => {
    assert.deepEqual(parseCsv('a,b\r\nc,d\ne,f\n'), [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ]);
  });

  it('reads a last row without a line ending', () => {
    assert.deepEqual(parseCsv('a,b\nc,d'), [
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('reads quoted fields', () => {
    assert.deepEqual(parseCsv('"a,1","say ""hi""","two\nlines"'), [['a,1', 'say "hi"', 'two\nlines']]);
  });

  it('reads empty fields', () => {
    assert.deepEqual(parseCsv(',a,,b\n""\n'), [['', 'a', '', 'b'], ['']]);
  });

  it('reads an empty field at the very end', () => {
    assert.deepEqual(parseCsv('a,b\nc,'), [
      ['a', 'b'],
      ['c', ''],
    ]);
  });

  it('reads nothing from nothing', () => {
    assert.deepEqual(parseCsv(''), []);
    assert.deepEqual(parseCsv('', { header: true }), []);
  });

  it('ignores a byte order mark', () => {
    assert.deepEqual(parseCsv('\uFEFFa;b', { delimiter: ';' }), [['a', 'b']]);
  });

  it('makes records', () => {
    assert.deepEqual(parseCsv('name, age\nAda, 36\nBob\n', { header: true, trim: true }), [
      { name: 'Ada', age: '36' },
      { name: 'Bob', age: '' },
    ]);
    assert.throws(() => parseCsv('a\n1,2', { header: true }), /row 2 has 2 fields, expected 1/);
  });

  it('says where a quote was left open', () => {
    assert.throws(() => parseCsv('a\n"b'), /line 2/);
  });
});

describe('stringifyCsv', () => {
  it('writes rows', () => {
    assert.equal(stringifyCsv([['a', 1], [null, undefined]]), 'a,1\r\n,\r\n');
  });

  it('quotes what needs quotes', () => {
    assert.equal(stringifyCsv([['a,b', 'say "hi"', 'x\ny']], { newline: '\n' }), '"a,b","say ""hi""","x\ny"\n');
  });

  it('leaves the rest alone', () => {
    assert.equal(stringifyCsv([["it's", 'a;b', ' c ']], { newline: '\n' }), "it's,a;b, c \n");
  });

  it('writes what can be read back with any delimiter', () => {
    const rows = [
      ['a;b', 'c,d'],
      ['tab\there', 'x|y'],
    ];
    assert.equal(stringifyCsv([['1,5', 'a;b']], { delimiter: ';', newline: '' }), '1,5;"a;b"');
    for (const delimiter of [',', ';', '\t', '|']) {
      assert.deepEqual(parseCsv(stringifyCsv(rows, { delimiter }), { delimiter }), rows);
    }
  });
});
