import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../support/temp.ts';

const module = new URL('../../../scripts/lib/lock.mjs', import.meta.url).href;
const { withLock } = await import(/* @vite-ignore */ module);

/** Above the largest number that Linux gives to processes. */
const NOBODY = 2 ** 22 + 1;

test('the second waits until the first has ended, and is told for whom', async () => {
  const file = join(await tempFolder(), 'a', 'lock');
  const order: string[] = [];
  let release = (): void => undefined;
  const first = withLock(file, {}, async () => {
    order.push('first begins');
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    order.push('first ends');
  });
  const waited: number[] = [];
  const second = withLock(file, { onWait: (pid: number) => waited.push(pid) }, async () => {
    order.push('second');
  });
  release();
  await Promise.all([first, second]);
  expect(order).toEqual(['first begins', 'first ends', 'second']);
  expect(waited).toEqual([process.pid]);
  expect(existsSync(file)).toBe(false);
});

test('the lock of a process that is gone is taken over', async () => {
  const file = join(await tempFolder(), 'lock');
  await writeFile(file, String(NOBODY));
  const owner = await withLock(file, {}, () => readFile(file, 'utf8'));
  expect(owner).toBe(String(process.pid));
});

test('work that fails lets go', async () => {
  const file = join(await tempFolder(), 'lock');
  const failing = withLock(file, {}, () => Promise.reject(new Error('no disk')));
  await expect(failing).rejects.toThrow('no disk');
  expect(existsSync(file)).toBe(false);
});

test('who waits can be told to give up', async () => {
  const file = join(await tempFolder(), 'lock');
  await writeFile(file, String(process.pid));
  const signal = AbortSignal.abort(new Error('given up'));
  await expect(withLock(file, { signal }, () => Promise.resolve())).rejects.toThrow('given up');
  expect(await readFile(file, 'utf8')).toBe(String(process.pid));
});
