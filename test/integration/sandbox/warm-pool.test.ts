import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import type { SandboxProvider, SandboxSpec } from '../../../src/core/sandbox/sandbox.ts';
import { createWarmPool, type WarmPoolOptions } from '../../../src/core/sandbox/warm-pool.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';

interface Place {
  readonly provider: SandboxProvider;
  readonly spec: SandboxSpec;
  readonly close: () => Promise<void>;
  /** Sessions that exist: each has a folder of its own. */
  open(): Promise<number>;
  /** Sessions that the inner provider has made so far. */
  made(): number;
}

async function place(options: WarmPoolOptions = {}): Promise<Place> {
  const folder = await tempFolder();
  const tree = join(folder, 'tree');
  await writeFiles(tree, { 'a.txt': 'a' });
  const inner = createNoneSandbox({ stateDir: join(folder, 'state') });
  let made = 0;
  const counted: SandboxProvider = {
    ...inner,
    open: (spec, signal) => {
      made += 1;
      return inner.open(spec, signal);
    },
  };
  const pool = createWarmPool(counted, options);
  onTestFinished(() => pool.close());
  const open = async (): Promise<number> =>
    (await readdir(join(folder, 'state/scratch'))).filter((name) => !name.endsWith('.owner'))
      .length;
  return {
    ...{ provider: pool.provider, close: pool.close, open, made: () => made },
    spec: {
      base: { id: 'a', tree, workspacePath: tree, dependencies: [] },
      toolchain: { path: [], mounts: [], env: {} },
      toolbox: {},
      limits: { processes: 64, fileBytes: 2 ** 20 },
    },
  };
}

const EXEC = { timeoutMs: 10_000, maxOutputBytes: 1_000 };
const ls = async (session: Awaited<ReturnType<SandboxProvider['open']>>): Promise<string> =>
  Buffer.from((await session.shell('ls', EXEC)).output.head).toString();

/** One that has ended by itself, or with another one, is as good as killed. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

describe('a warm pool', () => {
  test('hands out a session once: nothing of another one is seen', async () => {
    const { provider, spec } = await place();
    for (let round = 0; round < 3; round++) {
      const session = await provider.open(spec);
      expect(await ls(session)).toBe('a.txt\n');
      await session.shell('touch left', EXEC);
      await session.close();
    }
  });

  test('makes the next one while one is used, and never more than its size', async () => {
    const { provider, spec, open, made } = await place({ size: 1 });
    const first = await provider.open(spec);
    await expect.poll(open).toBe(2);
    const second = await provider.open(spec);
    expect(made()).toBe(3);
    await expect.poll(open).toBe(3);
    await Promise.all([first.close(), second.close()]);
    expect(await open()).toBe(1);
  });

  test('another spec gets its own session, and the old one is ended', async () => {
    const { provider, spec, open } = await place({ size: 1 });
    await (await provider.open(spec)).close();
    const other = { ...spec, limits: { ...spec.limits, fileBytes: 5 * 2 ** 10 } };
    const session = await provider.open(other);
    const { end } = await session.shell('head -c 9000 /dev/zero >big', EXEC);
    expect(end).not.toEqual({ kind: 'exited', code: 0 });
    await session.close();
    await expect.poll(open).toBe(1);
  });

  test('one that ended while it waited is not handed out', async () => {
    const folder = await tempFolder();
    const { provider, spec } = await place();
    const marked = {
      ...spec,
      toolchain: { ...spec.toolchain, env: { WAITING: folder } },
    };
    await (await provider.open(marked)).close();
    await expect.poll(async () => (await waiting(folder)).length).toBeGreaterThan(0);
    for (const pid of await waiting(folder)) endProcess(pid);
    const session = await provider.open(marked);
    expect(await ls(session)).toBe('a.txt\n');
    await session.close();
  });

  test('what nobody asks for is ended, by time or by closing', async () => {
    const idle = await place({ idleMs: 100 });
    await (await idle.provider.open(idle.spec)).close();
    await expect.poll(idle.open, { timeout: 5_000 }).toBe(0);
    const closed = await place();
    await (await closed.provider.open(closed.spec)).close();
    await closed.close();
    expect(await closed.open()).toBe(0);
    await (await closed.provider.open(closed.spec)).close();
    expect(await closed.open()).toBe(0);
  });

  test('cancelling an open leaves nothing', async () => {
    const { provider, spec, close, open } = await place();
    await (await provider.open(spec)).close();
    const controller = new AbortController();
    const opening = provider.open(spec, controller.signal);
    controller.abort();
    await expect(opening).rejects.toThrow();
    await close();
    expect(await open()).toBe(0);
  });

  test('a failure is told to who asks, each time anew', async () => {
    const { provider, spec } = await place();
    const broken = { ...spec, base: { ...spec.base, tree: '/none' } };
    await expect(provider.open(broken)).rejects.toThrow('could not be copied');
    await expect(provider.open(broken)).rejects.toThrow('could not be copied');
  });
});

/** Processes of waiting sessions: their environment names the folder. */
async function waiting(folder: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const text = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
    if (text.includes(`WAITING=${folder}`)) found.push(Number(name));
  }
  return found;
}
