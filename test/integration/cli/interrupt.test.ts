import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADD, twoBugs } from './projects.ts';
import { bash, playScript, replace, submit } from './scripted-server.ts';
import { buildCli, createWorld, type World } from './world.ts';

let cli: Awaited<ReturnType<typeof buildCli>>;
beforeAll(async () => {
  cli = await buildCli();
});
afterAll(() => cli.remove());

const world = (): Promise<World> => createWorld(cli.program, ADD);

/** Solves `add` after a command that leaves a process behind. */
const script = () =>
  playScript(() => [
    [bash('setsid sleep 300 & sleep 1')],
    [replace('src/add.js', 'a - b', 'a + b')],
    [submit('plus')],
  ]);

function sendAfter(ms: number, signal: NodeJS.Signals): (pid: number) => void {
  return (pid) => {
    setTimeout(() => {
      try {
        process.kill(pid, signal);
      } catch {
        // It came to its end before.
      }
    }, ms);
  };
}

describe('an interrupted run', () => {
  it('leaves nothing behind and changes nothing, whenever Ctrl-C comes', async () => {
    const { run } = await world();
    const server = await script();
    const args = ['fix', '--policy', server.baseUrl, '--attempts', '2', '--parallel', '2'];
    const began = performance.now();
    expect(await run(args)).toMatchObject({ code: 0 });
    const whole = performance.now() - began;
    const moments = Array.from(
      { length: 8 },
      (_, index) => 50 + ((index + Math.random()) / 8) * whole,
    );
    for (const ms of moments) {
      let stopped = 0;
      const { code, stderr } = await run(args, {
        started: (pid) => {
          sendAfter(ms, 'SIGINT')(pid);
          setTimeout(() => {
            stopped = performance.now();
          }, ms);
        },
      });
      const took = performance.now() - stopped;
      // Killed before a line of ours ran: shells report 130 for that too.
      if (code === undefined && stderr === '') continue;
      expect([0, 130], `after ${ms} ms: ${stderr}`).toContain(code);
      if (code === 130) {
        expect(stderr).toContain('cancelled');
        expect(took, `after ${ms} ms`).toBeLessThan(5_000);
      }
    }
  }, 120_000);

  it('names what was solved before Ctrl-C', async () => {
    const { run } = await createWorld(cli.program, twoBugs(8));
    let pid = 0;
    const server = await playScript((task) => {
      if (task.includes('area.test.js'))
        return [[replace('src/shape.js', 'a + b', 'a * b')], [submit('area')]];
      process.kill(pid, 'SIGINT');
      return [[bash('sleep 30')]];
    });
    const { code, stderr } = await run(['fix', '--policy', server.baseUrl, '--no-parity'], {
      started: (started) => {
        pid = started;
      },
    });
    expect(stderr).toMatch(
      /test\/area\.test\.js::area: prime-agent trajectories show \d{8}T\d{6}Z-[0-9a-f]{8}\n$/,
    );
    expect(code).toBe(130);
  });

  it.each([0, 500])(
    'ends the same way on SIGTERM, %i ms after its first words, and says so in JSON',
    async (ms) => {
      const { run } = await world();
      const { code, stdout } = await run(['fix', '--json'], { spoke: sendAfter(ms, 'SIGTERM') });
      expect(code).toBe(130);
      expect(JSON.parse(stdout)).toMatchObject({ outcome: 'cancelled' });
    },
  );

  it('cleans up when nobody reads its output any more', async () => {
    const { run } = await world();
    const closed = ['bash', '-o', 'pipefail', '-c', '"$@" 2>&1 | head -n 1', 'bash'];
    const { stdout, code } = await run(['tests'], { through: closed });
    expect(stdout).toBe('Taking a snapshot of the working tree …\n');
    expect(code).toBe(130);
  });

  it('says so when its output cannot be written', async () => {
    const { run } = await world();
    const full = ['bash', '-c', 'exec "$@" > /dev/full', 'bash'];
    const { stderr, code } = await run(['tests'], { through: full });
    expect(stderr).toMatch(/prime-agent: the output could not be written: ENOSPC.*\n$/);
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(3);
  });

  it('is cleaned up by the next start after it was killed', async () => {
    const { run, state } = await world();
    const server = await playScript(() => [[bash('setsid sleep 300 & sleep 30')]]);
    const killed = await run(['fix', '--policy', server.baseUrl, '--no-parity'], {
      started: (pid) => {
        const poll = setInterval(() => {
          if (server.chats.length === 0) return;
          clearInterval(poll);
          sendAfter(500, 'SIGKILL')(pid);
        }, 20);
      },
      leaves: true,
    });
    expect(killed.code).toBeUndefined();
    expect(await readdir(join(state, 'scratch'))).not.toEqual([]);
    expect((await run(['tests'])).code).toBe(0);
    const list = await run(['trajectories', 'list']);
    expect(list.stdout).toMatch(/^\S+ {2}unfinished /);
    expect(list.code).toBe(0);
  });
});
