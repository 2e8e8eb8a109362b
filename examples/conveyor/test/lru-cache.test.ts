import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LruCache } from '../src/index.ts';

function manualClock() {
  let now = 1000;
  const clock = (): number => now;
  const advance = (ms: number): void => {
    now += ms;
  };
  return { clock, advance };
}

describe('LruCache', () => {
  it('stores and forgets', () => {
    const cache = new LruCache<string, number>({ capacity: 2 }).set('a', 1);
    assert.equal(cache.get('a'), 1);
    assert.equal(cache.get('b'), undefined);
    assert.equal(cache.delete('a'), true);
    assert.equal(cache.size, 0);
  });

  it('drops the oldest entry when it is full', () => {
    const cache = new LruCache<string, number>({ capacity: 2 }).set('a', 1).set('b', 2).set('c', 3);
    assert.deepEqual(cache.keys(), ['b', 'c']);
  });

  it('counts writing as use', () => {
    const cache = new LruCache<string, number>({ capacity: 2 }).set('a', 1).set('b', 2).set('a', 3);
    cache.set('c', 4);
    assert.deepEqual(cache.keys(), ['a', 'c']);
  });

  it('counts reading as use', () => {
    const cache = new LruCache<string, number>({ capacity: 2 }).set('a', 1).set('b', 2);
    assert.equal(cache.get('a'), 1);
    cache.set('c', 3);
    assert.deepEqual(cache.keys(), ['a', 'c']);
  });

  it('does not count a look as use', () => {
    const cache = new LruCache<string, number>({ capacity: 2 }).set('a', 1).set('b', 2);
    assert.equal(cache.has('a'), true);
    cache.set('c', 3);
    assert.equal(cache.has('a'), false);
  });

  it('does not return what is stale', () => {
    const { clock, advance } = manualClock();
    const cache = new LruCache<string, number>({ capacity: 2, ttl: 100, clock }).set('a', 1);
    advance(60);
    assert.equal(cache.get('a'), 1);
    advance(40);
    assert.equal(cache.has('a'), false);
    assert.equal(cache.get('a'), undefined);
    assert.equal(cache.size, 0);
  });

  it('drops what is stale before what is fresh', () => {
    const { clock, advance } = manualClock();
    const cache = new LruCache<string, number>({ capacity: 2, ttl: 100, clock });
    cache.set('stale', 1);
    advance(90);
    cache.set('fresh', 2);
    cache.get('stale');
    advance(20);
    cache.set('new', 3);
    assert.deepEqual(cache.keys(), ['fresh', 'new']);
  });

  it('loads what it does not have', async () => {
    const cache = new LruCache<string, number | undefined>({ capacity: 2 });
    let loads = 0;
    const load = async (key: string): Promise<number> => {
      loads += 1;
      return key.length;
    };
    assert.equal(await cache.getOrLoad('abc', load), 3);
    assert.equal(await cache.getOrLoad('abc', load), 3);
    assert.equal(loads, 1);
  });

  it('needs room', () => {
    assert.throws(() => new LruCache({ capacity: 0 }), /capacity/);
  });
});
