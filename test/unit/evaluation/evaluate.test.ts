import { describe, expect, it } from 'vitest';
import { type AttemptEnd, outcomeOf, type Verdict } from '../../../src/core/agent/outcomes.ts';
import {
  chooseTasks,
  type EvaluateOptions,
  evaluate,
} from '../../../src/core/evaluation/evaluate.ts';
import type { AttemptRecord } from '../../../src/core/evaluation/results-file.ts';
import type { TaskAttempt, TaskRequest } from '../../../src/core/evaluation/task-runner.ts';
import { createScriptedPolicy } from '../../../src/core/policies/scripted.ts';
import { makeTask, TREE } from '../core/tasks/make.ts';

const tasks = Array.from({ length: 5 }, (_, at) => ({
  task: makeTask({ family: `f${at}`, operator: 'o', shape: `s${at}` }),
  tree: TREE,
}));

const ended = (end: AttemptEnd, verdict?: Verdict): TaskAttempt => ({
  row: outcomeOf(end, verdict),
  end,
  totals: { turns: 3, promptTokens: 30, completionTokens: 7 },
  edits: 2,
  testRuns: 4,
  tries: 1,
  patch: '',
  durationMs: 1234.4,
});
const solved = ended({ kind: 'submitted' }, 'passed');
const failed = ended({ kind: 'submitted' }, 'failed');
const broken = ended({ kind: 'infrastructure', reason: 'the disk is full', remedy: 'Free some.' });

/** A world whose attempts end as told; an evaluation runs in any world. */
async function run(
  answer: (request: TaskRequest, call: number) => TaskAttempt | Promise<TaskAttempt>,
  options: Partial<EvaluateOptions> = {},
) {
  const requests: TaskRequest[] = [];
  const written: AttemptRecord[] = [];
  const outcome = await evaluate({
    tasks,
    policy: createScriptedPolicy([]),
    attempts: 1,
    parallel: 1,
    seed: 0,
    budgets: {
      turns: 5,
      contextTokens: 100,
      generatedTokens: 100,
      replyTokens: 100,
      timeMs: 1000,
    },
    rules: 'strict',
    runner: async (request) => {
      requests.push(request);
      return answer(request, requests.length);
    },
    signal: new AbortController().signal,
    onRecord: async (record) => void written.push(record),
    ...options,
  });
  return { outcome, requests, written };
}

describe('an evaluation', () => {
  it('makes every attempt once, with a seed of its own, and records what it used', async () => {
    const { outcome, requests, written } = await run(() => solved, { attempts: 2, seed: 3 });
    expect(outcome.kind).toBe('done');
    expect(requests.map(({ seed }) => seed)).toEqual(Array(5).fill([3000, 3001]).flat());
    expect(new Set(written.map(({ task, attempt }) => `${task} ${attempt}`)).size).toBe(10);
    expect(outcome.records).toEqual(written);
    expect(written[0]).toMatchObject({
      outcome: 'solved',
      turns: 3,
      edits: 2,
      testRuns: 4,
      tries: 1,
      promptTokens: 30,
      completionTokens: 7,
      seconds: 1.234,
      repeated: false,
    });
  });

  it('makes no more attempts at the same time than it may', async () => {
    let now = 0;
    let most = 0;
    await run(
      async () => {
        now += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setImmediate(resolve));
        now -= 1;
        return failed;
      },
      { parallel: 3, attempts: 2 },
    );
    expect(most).toBe(3);
  });

  it('makes an invalid attempt once more', async () => {
    const { outcome, requests } = await run((_, call) => (call === 2 ? broken : solved));
    expect(requests.length).toBe(6);
    expect(outcome.records.map((record) => [record.outcome, record.repeated])).toEqual([
      ['solved', false],
      ['solved', true],
      ['solved', false],
      ['solved', false],
      ['solved', false],
    ]);
  });

  it('records an attempt that is invalid twice as that, not as failed', async () => {
    const bad = tasks[2]?.task.id;
    const { outcome } = await run(({ task }) => (task.id === bad ? broken : failed));
    expect(outcome.kind).toBe('done');
    const record = outcome.records.find(({ task }) => task === bad);
    expect(record).toMatchObject({
      outcome: 'invalid',
      reason: 'the disk is full',
      repeated: true,
    });
    expect(outcome.records.filter((other) => other.outcome === 'failed').length).toBe(4);
  });

  it('stops when several tasks in a row cannot be attempted', async () => {
    const { outcome, requests } = await run(() => broken, { attempts: 2 });
    expect(outcome).toMatchObject({
      kind: 'broken',
      reason: 'the disk is full',
      remedy: 'Free some.',
    });
    expect(new Set(requests.map(({ task }) => task.id)).size).toBe(3);
  });

  it('goes on after an interruption with what is missing, invalid ones included', async () => {
    const stop = new AbortController();
    const first = await run(
      (_, call) => {
        if (call < 4) return call === 1 ? failed : broken;
        stop.abort();
        return ended({ kind: 'cancelled' });
      },
      { signal: stop.signal },
    );
    expect(first.outcome.kind).toBe('cancelled');
    expect(first.written.map((record) => record.outcome)).toEqual(['failed', 'invalid']);

    const second = await run(() => solved, { done: first.written });
    expect(second.requests.length).toBe(4);
    expect(second.outcome.records.map((record) => record.outcome)).toEqual([
      'failed',
      ...Array(4).fill('solved'),
    ]);
    const third = await run(() => failed, { done: second.outcome.records });
    expect(third.requests).toEqual([]);
    expect(third.outcome).toEqual(second.outcome);
  });

  it('tells how far it is', async () => {
    const seen: unknown[] = [];
    await run((_, call) => (call % 2 === 0 ? solved : failed), {
      onProgress: (progress) => seen.push(progress),
    });
    expect(seen[0]).toEqual({ done: 0, of: 5, solved: 0, invalid: 0 });
    expect(seen.at(-1)).toEqual({ done: 5, of: 5, solved: 2, invalid: 0 });
  });

  it('ends when its results cannot be written', async () => {
    const full = new Error('no space left');
    await expect(run(() => solved, { onRecord: () => Promise.reject(full) })).rejects.toBe(full);
  });

  it('gives each attempt a place for its record, and closes it', async () => {
    const opened: string[] = [];
    let closed = 0;
    await run(
      async ({ sink }) => {
        await sink.append({} as Parameters<typeof sink.append>[0]);
        return solved;
      },
      {
        openSink: async ({ task, attempt }) => ({
          append: async () => void opened.push(`${task.id} ${attempt}`),
          close: async () => {
            closed += 1;
          },
        }),
      },
    );
    expect(new Set(opened).size).toBe(5);
    expect(closed).toBe(5);
  });
});

describe('a choice of tasks', () => {
  it('is the same in whatever order they come, and part of the larger ones', () => {
    const three = chooseTasks(tasks, 3, 1);
    expect(chooseTasks([...tasks].reverse(), 3, 1)).toEqual(three);
    expect(chooseTasks(tasks, 4, 1).slice(0, 3)).toEqual(three);
    expect(chooseTasks(tasks, 9, 1).length).toBe(5);
    const others = [2, 3, 4, 5].map((seed) => chooseTasks(tasks, 3, seed));
    expect(others.some((choice) => choice[0] !== three[0])).toBe(true);
  });
});
