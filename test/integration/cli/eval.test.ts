import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { readResults } from '../../../src/core/evaluation/results-file.ts';
import type { SplitName } from '../../../src/core/tasks/split.ts';
import { writeTaskSet } from '../../../src/core/tasks/task-set.ts';
import { suiteFolder } from '../../support/temp.ts';
import { captured } from '../../unit/cli/context.ts';
import { sumTask } from '../evaluation/tasks.ts';

const folder = suiteFolder();
const inside = (name: string): string => join(folder(), name);

beforeAll(async () => {
  const splits: readonly SplitName[] = ['held-out', 'held-out', 'train'];
  const made = splits.map((split, at) => ({ split, ...sumTask(`sum-${at}`) }));
  const trees = new Map(made.map(({ task, tree }) => [task.tree, tree]));
  await writeTaskSet(inside('tasks.jsonl'), { entries: made, trees });
  const entries = made.map(({ task }) => ({ task }));
  await writeTaskSet(inside('unsplit.jsonl'), { entries, trees });
  await writeFile(inside('notes.txt'), 'my notes\n');
});

async function run(args: readonly string[], given: { signal?: AbortSignal } = {}) {
  const { context, stdout, stderr } = captured();
  const program = createProgram({
    ...context,
    cwd: folder(),
    env: { PRIME_AGENT_HOME: inside('state'), PATH: process.env.PATH },
    ...given,
  });
  const code = await program.run(['eval', ...args]);
  return { code, stdout: stdout(), stderr: stderr() };
}

const SEARCH = ['--policy', 'edit-search', '--tasks', 'tasks.jsonl'];

describe('prime-agent eval', () => {
  it('measures a policy on the held-out tasks, goes on after Ctrl-C, and compares', async () => {
    const stop = new AbortController();
    // Stops after the first attempt has been written.
    const watch = setInterval(async () => {
      const text = await readFile(inside('a.jsonl'), 'utf8').catch(() => '');
      if (text.split('\n').length > 2) stop.abort(new Error('interrupted'));
    }, 20);
    const args = [...SEARCH, '--out', 'a.jsonl', '--parallel', '1'];
    const first = await run(args, { signal: stop.signal });
    clearInterval(watch);
    expect(first.code).toBe(130);
    expect(first.stdout).toContain('1 attempt not made yet');
    expect(first.stderr).toContain(`The same command goes on with ${inside('a.jsonl')}.`);

    const second = await run(args);
    expect(second.stderr).toContain(`Going on with ${inside('a.jsonl')}, which has 1 attempt.`);
    expect(second.stdout).toContain('edit-search, one edit at a time: 2 attempts at 2 tasks\n');
    expect(second.stdout).toContain('held-out 100.0 % (34.2 to 100.0) of 2 tasks');
    expect(second.code).toBe(0);
    const { records, header } = await readResults(inside('a.jsonl'));
    expect(records.map(({ outcome, seed }) => [outcome, seed])).toEqual(
      Array(2).fill(['solved', 0]),
    );
    expect(header.tasks).toMatchObject({ count: 2, split: 'held-out' });

    // Nothing is left to do, so nothing is done.
    const before = await readFile(inside('a.jsonl'));
    const third = JSON.parse((await run([...args, '--json'])).stdout);
    expect(third).toMatchObject({ outcome: 'evaluated', tasks: 2, attempts: 2, missing: 0 });
    expect(await readFile(inside('a.jsonl'))).toEqual(before);

    const little = ['--max-tries', '1', '--max-turns', '2'];
    const limited = await run([...SEARCH, '--out', 'b.jsonl', ...little]);
    expect(limited.stdout).toContain('2 attempts at 2 tasks, 1 try each at most');
    expect(limited.stdout).toContain('2 all turns were used');
    const compared = await run(['--compare', 'a.jsonl', 'b.jsonl']);
    expect(compared.stdout).toMatch(/in all +100.0 % +0.0 % +−100.0 +−100.0 to −100.0 +0 \/ 2/);
    expect(compared.stdout).toContain('not at equal tries');
    expect(compared.code).toBe(0);
    const document = JSON.parse((await run(['--compare', 'a.jsonl', 'b.jsonl', '--json'])).stdout);
    expect(document).toMatchObject({ outcome: 'compared', tasks: 2, unpaired: 0 });

    const other = await run([...args, '--seed', '1']);
    expect(other.stderr).toContain(
      'holds the results of another evaluation (different: seed).\nName another file with --out, or remove it.\n',
    );
    expect(other.code).toBe(2);
    expect(await readFile(inside('a.jsonl'))).toEqual(before);
  });

  it.each([
    [[], '--policy is missing.\nFor example: prime-agent eval --policy'],
    [['--policy', 'edit-search'], '--tasks is missing.\nFor example: prime-agent eval --policy'],
    [
      ['--policy', 'edit-search', '--tasks', 'none.jsonl'],
      'Name a file that `prime-agent tasks build` wrote.',
    ],
    [
      [...SEARCH, '--split', 'new-family'],
      'No task of the file is in new-family (held-out 2, train 1, new-family 0, new-operator 0, all 3).',
    ],
    [
      ['--policy', 'edit-search', '--tasks', 'unsplit.jsonl', '--split', 'held-out'],
      'No task of the file is in held-out',
    ],
    [[...SEARCH, '--temperature', '0.5'], 'edit-search samples nothing.\nLeave --temperature out.'],
    [[...SEARCH, '--temperature', 'warm'], 'must be a number from 0 to 2.'],
    [[...SEARCH, '--seed', '-1'], 'must be a whole number, 0 or above.'],
    [[...SEARCH, '--attempts', '1001'], '1001 attempts per task are too many.'],
    [[...SEARCH, '--out', 'notes.txt'], 'is not JSON: the file is damaged.'],
    [[...SEARCH, '--out', 'notes.txt/results.jsonl'], 'The results cannot be written to'],
    [[...SEARCH, 'a.jsonl'], 'a.jsonl is not expected here.'],
    [['--compare', 'a.jsonl'], '--compare needs two files of results.'],
    [['--compare', 'notes.txt', 'notes.txt'], 'Evaluate again into a new file.'],
    [['--compare', 'tasks.jsonl', 'tasks.jsonl'], 'Name a file that `prime-agent eval` wrote.'],
    [['--policy', 'clairvoyance', '--tasks', 'tasks.jsonl'], 'There is no policy "clairvoyance".'],
  ])('%j ends with 2 and what to do', async (args, explanation) => {
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toContain(explanation);
    expect(stdout).toBe('');
    expect(code).toBe(2);
    expect(await readFile(inside('notes.txt'), 'utf8')).toBe('my notes\n');
  });

  it('takes all tasks of a file that is not split', async () => {
    const args = ['--policy', 'edit-search', '--tasks', 'unsplit.jsonl', '--max-turns', '2'];
    const { code, stdout } = await run([...args, '--limit', '1', '--out', 'c.jsonl']);
    expect(stdout).toContain('all 0.0 % (0.0 to 79.3) of 1 task');
    expect(code).toBe(0);
  });
});
