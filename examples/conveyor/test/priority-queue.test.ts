import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PriorityQueue } from '../src/index.ts';

describe('PriorityQueue', () => {
  it('is empty at first', () => {
    const queue = new PriorityQueue<string>();
    assert.equal(queue.size, 0);
    assert.equal(queue.peek(), undefined);
    assert.equal(queue.pop(), undefined);
  });

  it('gives out the highest priority first', () => {
    const queue = new PriorityQueue<string>();
    queue.push('low', 1);
    queue.push('high', 9);
    queue.push('middle', 5);
    assert.equal(queue.peek(), 'high');
    assert.deepEqual([...queue.drain()], ['high', 'middle', 'low']);
  });

  it('keeps items of equal priority in order', () => {
    const queue = new PriorityQueue<string>();
    for (const name of ['a', 'b', 'c', 'd', 'e']) queue.push(name);
    assert.deepEqual([...queue.drain()], ['a', 'b', 'c', 'd', 'e']);
  });

  it('sorts many items', () => {
    const queue = new PriorityQueue<number>();
    const numbers = Array.from({ length: 60 }, (_, i) => (i * 37) % 60);
    for (const number of numbers) queue.push(number, number);
    assert.deepEqual([...queue.drain()], numbers.toSorted((a, b) => b - a));
  });

  it('removes items wherever they are', () => {
    const queue = new PriorityQueue<number>();
    for (const number of [5, 3, 8, 1, 9, 2, 8]) queue.push(number, number);
    assert.equal(queue.removeWhere((number) => number === 9 || number === 5), 2);
    assert.equal(queue.size, 5);
    assert.deepEqual([...queue.drain()], [8, 8, 3, 2, 1]);
  });

  it('refuses a priority that is not a number', () => {
    assert.throws(() => new PriorityQueue<string>().push('a', Number.NaN), RangeError);
  });
});
