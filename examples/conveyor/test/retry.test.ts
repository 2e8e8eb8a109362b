import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { delayBefore, retry } from '../src/index.ts';

function recorder(failures: number) {
  const calls: number[] = [];
  const waits: number[] = [];
  return {
    calls,
    waits,
    operation: async (attempt: number): Promise<string> => {
      calls.push(attempt);
      if (attempt <= failures) throw new Error(`failure ${attempt}`);
      return `success ${attempt}`;
    },
    sleep: async (ms: number): Promise<void> => {
      waits.push(ms);
    },
  };
}

describe('delayBefore', () => {
  it('doubles', () => {
    assert.deepEqual(
      [1, 2, 3, 4, 5].map((attempt) => delayBefore(attempt, 100, 10_000)),
      [0, 100, 200, 400, 800],
    );
  });

  it('stops growing at the maximum', () => {
    assert.equal(delayBefore(4, 100, 250), 250);
    assert.equal(delayBefore(3, 100, 250), 200);
  });
});

describe('retry', () => {
  it('calls once when all is well', async () => {
    const { operation, sleep, calls, waits } = recorder(0);
    assert.equal(await retry(operation, { sleep }), 'success 1');
    assert.deepEqual(calls, [1]);
    assert.deepEqual(waits, []);
  });

  it('tries again after an error', async () => {
    const { operation, sleep, calls, waits } = recorder(2);
    assert.equal(await retry(operation, { sleep, base: 10 }), 'success 3');
    assert.deepEqual(calls, [1, 2, 3]);
    assert.deepEqual(waits, [10, 20]);
  });

  it('tries again after an error that is thrown at once', async () => {
    let calls = 0;
    const operation = (): Promise<number> => {
      calls += 1;
      if (calls === 1) throw new Error('at once');
      return Promise.resolve(calls);
    };
    assert.equal(await retry(operation, { sleep: async () => undefined }), 2);
  });

  it('fails with the last error', async () => {
    const operation = (attempt: number): Promise<never> => {
      throw new Error(`failure ${attempt}`);
    };
    await assert.rejects(retry(operation, { attempts: 2, sleep: async () => undefined }), /failure 2/);
    await assert.rejects(retry(operation, { attempts: 1 }), /failure 1/);
  });

  it('passes other errors on at once', async () => {
    const seen: unknown[] = [];
    const operation = (attempt: number): Promise<never> => {
      throw new TypeError(`failure ${attempt}`);
    };
    const retryable = (error: unknown): boolean => {
      seen.push(error);
      return !(error instanceof TypeError);
    };
    await assert.rejects(retry(operation, { retryable }), /failure 1/);
    assert.equal(seen.length, 1);
  });
});
