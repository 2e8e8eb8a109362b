import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type LoopOptions, type LoopResult, runLoop } from '../../../src/core/agent/loop.ts';
import { PolicyFailure } from '../../../src/core/policies/policy.ts';
import { createScriptedPolicy, type Script } from '../../../src/core/policies/scripted.ts';
import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import type { SandboxSession } from '../../../src/core/sandbox/sandbox.ts';
import { createBashTool } from '../../../src/core/tools/bash/bash.ts';
import { createEditorTool } from '../../../src/core/tools/editor/editor.ts';
import { createSubmitTool } from '../../../src/core/tools/submit.ts';
import type { Tool } from '../../../src/core/tools/tool.ts';
import type { TrajectoryLine } from '../../../src/core/trajectories/schema.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';

const sessions: SandboxSession[] = [];
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close()));
});

const BUDGETS = {
  turns: 10,
  contextTokens: 100_000,
  generatedTokens: 100_000,
  replyTokens: 1_000,
  timeMs: 20_000,
};
const bash = (command: string) => ({ calls: [{ name: 'bash', arguments: { command } }] });
const submit = { calls: [{ name: 'submit', arguments: { summary: 'all done' } }] };

/** Stands for the real one where only the call matters. */
const testsTool: Tool = {
  name: 'run_tests',
  description: '',
  parameters: z.strictObject({}),
  run: async () => ({ ok: false, text: '1 failed' }),
};

async function attempt(
  script: Script,
  {
    withTests = false,
    ...options
  }: Partial<Omit<LoopOptions, 'policy' | 'tools'>> & { readonly withTests?: boolean } = {},
): Promise<LoopResult & { lines: TrajectoryLine[] }> {
  const folder = await tempFolder();
  const tree = join(folder, 'tree');
  await writeFiles(tree, { 'a.txt': 'one\ntwo\n' });
  const session = await createNoneSandbox({ stateDir: join(folder, 'state') }).open({
    base: { id: 'x', tree, workspacePath: '/somewhere/else', dependencies: [] },
    toolchain: { path: [], mounts: [], env: {} },
    toolbox: {},
    limits: { processes: 100, fileBytes: 2 ** 20 },
  });
  sessions.push(session);
  const lines: TrajectoryLine[] = [];
  const result = await runLoop({
    policy: createScriptedPolicy(script),
    tools: [
      createBashTool(session),
      createEditorTool(session),
      createSubmitTool(),
      ...(withTests ? [testsTool] : []),
    ] as readonly Tool[],
    messages: [{ role: 'user', content: 'go' }],
    budgets: BUDGETS,
    rules: 'strict',
    seed: 0,
    redactor: {
      redact: async (text) => text.replaceAll('s3cret', '[redacted]'),
      holdsSecret: async (text) => text.includes('s3cret'),
    },
    sink: { append: async (line) => void lines.push(line) },
    signal: new AbortController().signal,
    ...options,
  });
  return { ...result, lines };
}

const observations = (result: LoopResult) =>
  result.messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []));

describe('the agent loop', () => {
  it('runs calls, shows what happened, and ends with a submission', async () => {
    const result = await attempt([bash('cat a.txt'), submit]);
    expect(result.end).toEqual({ kind: 'submitted' });
    expect(result.summary).toBe('all done');
    expect(observations(result)[0]).toBe('one\ntwo');
    expect(result.totals.turns).toBe(2);
  });

  it('runs several calls of one reply in order, and none after a submission', async () => {
    const result = await attempt([
      {
        calls: [
          ...bash('echo 1 > b').calls,
          ...bash('cat b').calls,
          ...submit.calls,
          ...bash('echo late').calls,
        ],
      },
    ]);
    expect(observations(result)).toEqual(['(no output)', '1', 'Submitted.']);
  });

  it('appends one record line after every turn, with what was observed', async () => {
    const seen: number[] = [];
    const result = await attempt(({ index }) => {
      seen.push(index);
      return index < 2 ? bash(`echo ${index}`) : submit;
    });
    expect(result.lines.map((line) => line.type === 'turn' && line.index)).toEqual([0, 1, 2]);
    expect(result.lines[1]).toMatchObject({
      observations: [{ content: '1', ok: true, name: 'bash' }],
    });
  });

  it('goes on after a well-formed call that fails', async () => {
    const missing = {
      calls: [
        { name: 'str_replace_editor', arguments: { command: 'view', path: '/workspace/nope' } },
      ],
    };
    const result = await attempt([missing, bash('exit 3'), submit]);
    expect(result.end.kind).toBe('submitted');
    expect(observations(result)[1]).toContain('[exit code 3]');
  });

  it.each([
    ['an unknown tool', { calls: [{ name: 'fly', arguments: {} }] }],
    ['a missing argument', { calls: [{ name: 'bash', arguments: {} }] }],
    ['a mistyped argument', { calls: [{ name: 'bash', arguments: { command: { a: 1 } } }] }],
    ['broken JSON', '<tool_call>\n{"name": "bash", "arguments": {"command": \n</tool_call>'],
  ])('ends at %s under strict rules, and answers it under lenient ones', async (_, reply) => {
    const strict = await attempt([reply, submit]);
    expect(strict.end.kind).toBe('invalid_tool_call');
    const lenient = await attempt([reply, submit], { rules: 'lenient' });
    expect(lenient.end.kind).toBe('submitted');
    expect(lenient.leniencyUsed).toBe(true);
    expect(lenient.messages.some((message) => /could not be read/.test(message.content))).toBe(
      true,
    );
  });

  it('answers two replies without a call, and ends at the third', async () => {
    const result = await attempt(['thinking', 'still thinking', 'done?', 'more']);
    expect(result.end).toEqual({ kind: 'budget', budget: 'no_call' });
    expect(result.totals.turns).toBe(3);
    expect(result.lines.map((line) => line.type === 'turn' && typeof line.nudge)).toEqual([
      'string',
      'string',
      'undefined',
    ]);
  });

  it('ends when one more state of the files would be tested or handed in than may be', async () => {
    const edit = (from: string, to: string) => ({
      calls: [
        {
          name: 'str_replace_editor',
          arguments: {
            command: 'str_replace',
            path: '/workspace/a.txt',
            old_str: from,
            new_str: to,
          },
        },
      ],
    });
    const budgets = { ...BUDGETS, tries: 1 };
    const once = await attempt([edit('one', 'two'), submit], { budgets });
    expect(once.end).toEqual({ kind: 'submitted' });
    expect(once.effort).toEqual({ edits: 1, testRuns: 0, tries: 1 });

    const test = { calls: [{ name: 'run_tests', arguments: {} }] };
    const twice = await attempt([edit('one', '1'), test, edit('two', '2'), bash('true'), submit], {
      budgets,
      withTests: true,
    });
    expect(twice.end).toEqual({ kind: 'budget', budget: 'tries' });
    expect(twice.effort).toEqual({ edits: 2, testRuns: 1, tries: 1 });
    expect(twice.totals.turns).toBe(5);
  });

  it('starts to count anew after a call', async () => {
    const result = await attempt(['a', 'b', bash('true'), 'c', 'd', submit]);
    expect(result.end.kind).toBe('submitted');
  });

  it('ends when a reply is cut off', async () => {
    const result = await attempt([{ content: '<tool_call>{"na', finish: 'length' }, submit]);
    expect(result.end).toEqual({ kind: 'budget', budget: 'reply' });
  });

  it.each([
    ['turns', { turns: 2 }],
    ['generated_tokens', { generatedTokens: 1 }],
    ['context_tokens', { contextTokens: 2 }],
  ])('ends when the budget of %s is used up', async (budget, budgets) => {
    const result = await attempt(() => bash('echo some output'), {
      budgets: { ...BUDGETS, ...budgets },
    });
    expect(result.end).toEqual({ kind: 'budget', budget });
  });

  it('ends when the time is used up, in the middle of a command, and keeps what it printed', async () => {
    const result = await attempt([bash('echo started; sleep 30')], {
      budgets: { ...BUDGETS, timeMs: 700 },
    });
    expect(result.end).toEqual({ kind: 'budget', budget: 'time' });
    expect(JSON.stringify(result.lines)).toContain('started');
  });

  it('is cancelled within a second in the middle of a command', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 500);
    const began = performance.now();
    const result = await attempt([bash('sleep 30')], { signal: controller.signal });
    expect(result.end).toEqual({ kind: 'cancelled' });
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('is cancelled while the policy thinks', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const result = await attempt(() => new Promise(() => {}), { signal: controller.signal });
    expect(result.end).toEqual({ kind: 'cancelled' });
  });

  it('tells a policy that repeats the same failing call', async () => {
    const result = await attempt([
      bash('false'),
      bash('false'),
      bash('true'),
      bash('false'),
      submit,
    ]);
    const texts = observations(result);
    expect(texts[0]).not.toMatch(/failed 1 times/);
    expect(texts[1]).toMatch(/failed 2 times/);
    expect(texts[3]).not.toMatch(/times/);
  });

  it('redacts observations before the policy and the record see them', async () => {
    const seen: string[] = [];
    const result = await attempt(({ index, request }) => {
      seen.push(JSON.stringify(request.messages));
      return index === 0 ? bash('echo "my s3"cret') : submit;
    });
    expect(observations(result)[0]).toBe('my [redacted]');
    expect(JSON.stringify([seen.slice(1), result.lines])).not.toContain('my s3cret');
  });

  it('keeps an attempt local when a sampled turn holds a secret', async () => {
    expect((await attempt([bash('echo s3cret'), submit])).localOnly).toBe(true);
    expect((await attempt([bash('echo fine'), submit])).localOnly).toBe(false);
  });

  it.each([
    ['context-exceeded', { kind: 'budget', budget: 'context_tokens' }],
    ['unreachable', { kind: 'infrastructure', reason: 'no answer', remedy: 'start it' }],
  ] as const)('turns a policy failure of kind %s into the right end', async (kind, end) => {
    const result = await attempt(() => {
      throw new PolicyFailure(kind, 'no answer', 'start it');
    });
    expect(result.end).toEqual(end);
  });

  it('is infrastructure when the record cannot be written', async () => {
    const result = await attempt([bash('true'), submit], {
      sink: { append: () => Promise.reject(new Error('the disk is full')) },
    });
    expect(result.end).toMatchObject({
      kind: 'infrastructure',
      reason: expect.stringContaining('the disk is full'),
    });
  });

  it('is infrastructure when the sandbox is gone', async () => {
    const result = await attempt(async ({ index }) => {
      if (index === 1) await sessions.at(-1)?.close();
      return bash('echo hello');
    });
    expect(result.end.kind).toBe('infrastructure');
  });
});
