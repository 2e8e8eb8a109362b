import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_IMAGE, type TestEngine } from '../../support/docker-engine.ts';
import { ADD } from '../cli/projects.ts';
import { buildCli, createWorld, type Files } from '../cli/world.ts';

type Line = Readonly<Record<string, unknown>>;

/** Every new record of a state folder, line by line. */
async function records(state: string, seen: Set<string>): Promise<readonly (readonly Line[])[]> {
  const root = join(state, 'trajectories');
  const names = (await readdir(root, { recursive: true }))
    .filter((name) => name.endsWith('.jsonl') && !name.includes('index') && !seen.has(name))
    .sort();
  for (const name of names) seen.add(name);
  return Promise.all(
    names.map(async (name) =>
      (await readFile(join(root, name), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line),
    ),
  );
}

/** Times, and what names one attempt among others. Budgets (`timeMs`) and positions (`at`) are neither. */
const VARIES = new Set(['attemptId', 'seriesId', 'startedAt', 'endedAt', 'durationMs', 'policyMs']);

/** What varies is replaced by its type: it must be in both, at the same place. */
function timeless(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timeless);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      VARIES.has(key) ? `(a ${typeof inner})` : timeless(inner),
    ]),
  );
}

/** The same record, but for where it was made. */
function comparable([header = {}, ...lines]: readonly Line[]): unknown {
  const { sandbox: _, ...rest } = header;
  return timeless([rest, ...lines]);
}

async function example(name: string): Promise<Files> {
  const root = join(import.meta.dirname, '../../../examples', name);
  const files: Record<string, string> = {};
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[path.slice(root.length + 1)] = await readFile(path, 'utf8');
  }
  return files;
}

/** One agent, everywhere: the same failing test, solved in both sandboxes, step by step the same. */
export function describeFix(engine: TestEngine): void {
  describe('prime-agent fix', () => {
    let cli: Awaited<ReturnType<typeof buildCli>>;
    beforeAll(async () => {
      cli = await buildCli();
    });
    afterAll(() => cli.remove());

    test.each([
      ['shop-cart', 'test/coupons.test.js::CouponBook > is expired at the very moment it ends'],
      ['timesheet', 'tests/test_report.py::test_a_week_ends_on_sunday'],
    ])(
      'examples/%s: both transcripts are identical apart from times',
      async (name, target) => {
        const { run, state } = await createWorld(cli.program, await example(name));
        const seen = new Set<string>();
        const args = ['fix', '--attempts', '1', '--json', '--test', target];
        const local = await run([...args, '--sandbox', 'local']);
        const localRecords = await records(state, seen);
        const docker = await run([...args, '--sandbox', 'docker', '--docker-image', TEST_IMAGE], {
          env: engine.variables,
        });
        const dockerRecords = await records(state, seen);
        expect(local.code, local.stderr).toBe(0);
        expect(docker.code, docker.stderr).toBe(0);
        expect(localRecords).toHaveLength(1);
        expect(localRecords[0]?.[0]).toMatchObject({ sandbox: 'local' });
        expect(dockerRecords[0]?.[0]).toMatchObject({ sandbox: 'docker' });
        // Turns with what was said and seen, and an end.
        expect(localRecords[0]?.length).toBeGreaterThan(3);
        expect(localRecords[0]?.at(-1)).toMatchObject({ type: 'end', outcome: 'solved' });
        expect(dockerRecords.map(comparable)).toEqual(localRecords.map(comparable));
        expect(JSON.parse(docker.stdout).patch).toBe(JSON.parse(local.stdout).patch);
        expect(engine.docker('ps', '-aq')).toBe('');
        expect(engine.docker('volume', 'ls', '-q')).toBe('');
      },
      600_000,
    );

    test('an image without what the tests need is said', async () => {
      const { run } = await createWorld(cli.program, ADD);
      const { code, stderr } = await run(
        ['fix', '--sandbox', 'docker', '--docker-image', 'prime-agent-test:none'],
        { env: engine.variables },
      );
      expect(stderr).toContain('The image prime-agent-test:none is not on the container engine');
      expect(code).toBe(3);
    });
  });
}
