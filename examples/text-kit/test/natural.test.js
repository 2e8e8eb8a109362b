import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareNatural, sortNatural } from '../src/index.js';

test('orders numbers by value', () => {
  assert.deepEqual(sortNatural(['file10', 'file9', 'file1']), ['file1', 'file9', 'file10']);
});

test('orders letters without case first', () => {
  assert.deepEqual(sortNatural(['b', 'A', 'a', 'B']), ['A', 'a', 'B', 'b']);
});

test('puts a string before its continuations', () => {
  assert.deepEqual(sortNatural(['v1.2', 'v1', 'v1.10']), ['v1', 'v1.2', 'v1.10']);
});

test('finds equal strings equal', () => {
  assert.equal(compareNatural('a1b', 'a1b'), 0);
  assert.equal(compareNatural('', ''), 0);
});

test('sorts by a key, in both directions, without touching the input', () => {
  const items = [{ id: 'x2' }, { id: 'x10' }, { id: 'x1' }];
  const ids = (list) => list.map((item) => item.id).join(' ');
  assert.equal(ids(sortNatural(items, { by: (item) => item.id })), 'x1 x2 x10');
  assert.equal(ids(sortNatural(items, { by: (item) => item.id, descending: true })), 'x10 x2 x1');
  assert.equal(ids(items), 'x2 x10 x1');
});
