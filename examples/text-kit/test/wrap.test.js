import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrap } from '../src/index.js';

test('leaves short text alone', () => {
  assert.equal(wrap('a short line', 20), 'a short line');
});

test('breaks at spaces', () => {
  assert.equal(wrap('the quick brown fox jumps', 12), 'the quick\nbrown fox\njumps');
});

test('fills a line to the last column', () => {
  assert.equal(wrap('one two six', 7), 'one two\nsix');
  assert.equal(wrap('abcde', 5), 'abcde');
});

test('puts no more than the width on a line', () => {
  const text = 'to be or not to be that is the question whether tis nobler in the mind';
  for (let width = 8; width < 30; width += 1) {
    for (const line of wrap(text, width).split('\n')) assert.ok(line.length <= width, line);
  }
});

test('keeps paragraphs', () => {
  assert.equal(wrap('first one\n\n\nsecond', 6), 'first\none\n\nsecond');
});

test('indents', () => {
  assert.equal(wrap('alpha beta gamma', 9, { indent: '* ', hanging: '  ' }), '* alpha\n  beta\n  gamma');
});

test('leaves long words whole unless told otherwise', () => {
  assert.equal(wrap('see https://example.org', 8), 'see\nhttps://example.org');
  assert.equal(wrap('a incomprehensible bc', 6, { breakWords: true }), 'a\nincomp\nrehens\nible\nbc');
});

test('needs room for text', () => {
  assert.throws(() => wrap('text', 2, { indent: '  ' }), /leaves no room/);
});
