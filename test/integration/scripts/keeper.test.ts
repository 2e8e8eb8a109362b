import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const keeper = fileURLToPath(new URL('../../../scripts/lib/keeper.mjs', import.meta.url));

test('when the starter is gone, the program and its children end', async () => {
  // Started by bash, which starts a child of its own: both say who they are.
  const script = 'sleep 600 & echo "$$ $!"; wait';
  const child = spawn(process.execPath, [keeper, 'bash', '-c', script], { detached: true });
  const [output] = await once(child.stdout, 'data');
  const pids = String(output).trim().split(' ').map(Number);
  expect(pids.map(isThere)).toEqual([true, true]);
  child.stdin.destroy();
  await once(child, 'exit');
  await expect.poll(() => pids.map(isThere), { timeout: 10_000 }).toEqual([false, false]);
});

test('the exit code of the program is its own', async () => {
  const child = spawn(process.execPath, [keeper, 'bash', '-c', 'exit 7'], { detached: true });
  const [code] = await once(child, 'exit');
  expect(code).toBe(7);
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
