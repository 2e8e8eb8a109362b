import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WorkerPool } from '../src/index.ts';

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('WorkerPool', () => {
  it('hands back what a job returns', async () => {
    assert.equal(await new WorkerPool(1).submit({ name: 'sum', run: async () => 1 + 1 }), 2);
  });

  it('runs no more jobs at a time than its size', async () => {
    const pool = new WorkerPool(2);
    let now = 0;
    let most = 0;
    const run = async (): Promise<void> => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((done) => setImmediate(done));
      now -= 1;
    };
    await Promise.all(Array.from({ length: 6 }, (_, i) => pool.submit({ name: `job ${i}`, run })));
    assert.equal(most, 2);
  });

  it('starts urgent jobs first', async () => {
    const pool = new WorkerPool(1);
    const { open, opened } = gate();
    const order: string[] = [];
    const job = (name: string, priority: number) => ({
      name,
      priority,
      run: async (): Promise<void> => {
        order.push(name);
      },
    });
    const first = pool.submit({ name: 'first', run: () => opened });
    const rest = [pool.submit(job('later', 1)), pool.submit(job('urgent', 10))];
    open();
    await Promise.all([first, ...rest]);
    assert.deepEqual(order, ['urgent', 'later']);
  });

  it('goes on after a failure and counts', async () => {
    const pool = new WorkerPool(1);
    const failing = pool.submit({
      name: 'failing',
      run: async () => {
        throw new Error('broken');
      },
    });
    const fine = pool.submit({ name: 'fine', run: async () => 'done' });
    await assert.rejects(failing, /broken/);
    assert.equal(await fine, 'done');
    await pool.onIdle();
    assert.deepEqual(pool.stats, { running: 0, waiting: 0, finished: 1, failed: 1 });
  });

  it('cancels what has not started', async () => {
    const pool = new WorkerPool(1);
    const { open, opened } = gate();
    const running = pool.submit({ name: 'import', run: () => opened });
    const waiting = pool.submit({ name: 'import', run: async () => undefined });
    const rejected = assert.rejects(waiting, /cancelled: import/);
    assert.equal(pool.cancel('import'), 1);
    assert.equal(pool.cancel('export'), 0);
    open();
    await Promise.all([running, rejected]);
  });

  it('says when it is idle', async () => {
    const pool = new WorkerPool(2);
    const finished: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      void pool.submit({
        name,
        run: async () => {
          await new Promise((done) => setImmediate(done));
          finished.push(name);
        },
      });
    }
    await pool.onIdle();
    assert.deepEqual(finished, ['a', 'b', 'c']);
    await pool.onIdle();
  });
});
