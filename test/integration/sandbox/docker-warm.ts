import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { SandboxSession } from '../../../src/core/sandbox/sandbox.ts';
import { createWarmPool, type WarmPool } from '../../../src/core/sandbox/warm-pool.ts';
import type { TestEngine } from '../../support/docker-engine.ts';
import { shell } from './conformance.ts';
import { leftOn, sandboxOn } from './docker-engine-use.ts';
import { createFixture, type Fixture } from './fixture.ts';

/** The next container is made while one is used; `warm-pool.test.ts` has what holds for every provider. */
export function describeWarm(engine: TestEngine): void {
  describe('containers that are made ahead', () => {
    let fixture: Fixture;
    beforeAll(() => {
      fixture = createFixture();
    });
    afterAll(() => fixture.remove());
    const running = (): string[] =>
      engine
        .docker('ps', '-q', '--filter', 'label=prime-agent=sandbox')
        .split('\n')
        .filter(Boolean);
    const made = (count: number) =>
      expect.poll(() => running().length, { timeout: 60_000 }).toBe(count);
    const open = async (pool: WarmPool): Promise<SandboxSession> => {
      const session = await pool.provider.open(fixture.spec);
      onTestFinished(() => session.close());
      return session;
    };
    /** The first session, with the one that waits behind it. */
    const start = async (): Promise<{ pool: WarmPool; first: SandboxSession; own: string }> => {
      const pool = createWarmPool(sandboxOn(engine));
      onTestFinished(() => pool.close());
      const first = await open(pool);
      const [own = ''] = running();
      await made(2);
      return { pool, first, own };
    };

    test('one waits, is handed out once, and has nothing of the one before', async () => {
      const { pool, first, own } = await start();
      const waiting = running().find((id) => id !== own);
      await shell(first, 'echo left > left; echo left > /tmp/left; setsid sleep 3195 &');
      const second = await open(pool);
      // No other one was made for it.
      expect(running()).toContain(waiting);
      const seen = await shell(second, 'ls; ls /tmp/left; ps -e -o args= | grep -c "[s]leep 3195"');
      expect(seen.text).toMatch(
        /^a\.txt\nnode_modules\nsrc\nls: .*No such file or directory\n0\n$/,
      );
      await made(3);
      await Promise.all([first.close(), second.close()]);
      expect(running()).not.toContain(waiting);
      await made(1);
      await pool.close();
      expect(leftOn(engine)).toEqual([]);
    });

    test('one that was killed while it waited is not handed out', async () => {
      const { pool, first, own } = await start();
      await first.close();
      const [waiting = ''] = running().filter((id) => id !== own);
      engine.docker('kill', waiting);
      const second = await open(pool);
      expect((await shell(second, 'cat a.txt')).text).toBe('a\n');
      await second.close();
      await pool.close();
      expect(leftOn(engine)).toEqual([]);
    });
  });
}
