import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { TokenBucket } from '../src/index.ts';

describe('TokenBucket', () => {
  let now = 0;
  const clock = (): number => now;
  let bucket: TokenBucket;

  beforeEach(() => {
    now = 5000;
    bucket = new TokenBucket({ capacity: 3, interval: 100, clock });
  });

  it('lets a burst through, then no more', () => {
    assert.deepEqual([bucket.tryTake(), bucket.tryTake(2), bucket.tryTake()], [true, true, false]);
  });

  it('fills up with time', () => {
    bucket.tryTake(3);
    now += 99;
    assert.equal(bucket.tryTake(), false);
    now += 101;
    assert.equal(bucket.tryTake(2), true);
  });

  it('loses no time when it is asked often', () => {
    bucket.tryTake(3);
    for (let i = 0; i < 3; i += 1) {
      assert.equal(bucket.tryTake(), false);
      now += 40;
    }
    assert.equal(bucket.tryTake(), true);
    assert.equal(bucket.waitFor(), 80);
  });

  it('never holds more than its capacity', () => {
    now += 10_000;
    assert.deepEqual([bucket.tryTake(3), bucket.tryTake()], [true, false]);
  });

  it('says how long to wait', () => {
    assert.equal(bucket.waitFor(3), 0);
    bucket.tryTake(3);
    assert.equal(bucket.waitFor(), 100);
    now += 30;
    assert.equal(bucket.waitFor(2), 170);
  });

  it('refuses what can never be given', () => {
    assert.throws(() => bucket.tryTake(4), /more than the bucket holds/);
    assert.throws(() => new TokenBucket({ capacity: 1, interval: 0 }), RangeError);
  });
});
