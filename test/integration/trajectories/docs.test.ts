import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { runLoop } from '../../../src/core/agent/loop.ts';
import { type AttemptEnd, outcomeOf, type Verdict } from '../../../src/core/agent/outcomes.ts';
import { SYSTEM_PROMPT } from '../../../src/core/agent/prompt.ts';
import { createScriptedPolicy } from '../../../src/core/policies/scripted.ts';
import { createRedactor } from '../../../src/core/redaction/redactor.ts';
import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import { createBashTool } from '../../../src/core/tools/bash/bash.ts';
import { createEditorTool } from '../../../src/core/tools/editor/editor.ts';
import { createSubmitTool } from '../../../src/core/tools/submit.ts';
import type { Tool } from '../../../src/core/tools/tool.ts';
import {
  endLineSchema,
  headerLineSchema,
  turnLineSchema,
} from '../../../src/core/trajectories/schema.ts';
import { createTrajectoryStore } from '../../../src/core/trajectories/store.ts';
import { toMarkdown } from '../../../src/core/trajectories/transcript.ts';
import { end, header } from '../../unit/core/trajectories/make.ts';

/**
 * docs/trajectories.md holds parts that are made here, by a real attempt and from the code, between
 * `<!-- NAME -->` and `<!-- /NAME -->`. When such a part differs the test fails; running it with
 * UPDATE_DOCS=1 writes the parts anew.
 */
const DOCS = resolve(import.meta.dirname, '../../../docs/trajectories.md');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prime-docs-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function expectPart(name: string, made: string): Promise<void> {
  const docs = await readFile(DOCS, 'utf8');
  const [open, close] = [`<!-- ${name} -->\n`, `\n<!-- /${name} -->`];
  const start = docs.indexOf(open);
  const stop = docs.indexOf(close);
  expect(start, `docs/trajectories.md has no part ${name}`).toBeGreaterThan(0);
  if (process.env.UPDATE_DOCS === '1') {
    await writeFile(DOCS, docs.slice(0, start + open.length) + made + docs.slice(stop));
    return;
  }
  const hint = `the part ${name} of docs/trajectories.md is out of date: run this test with UPDATE_DOCS=1`;
  expect(docs.slice(start + open.length, stop), hint).toBe(made);
}

describe('docs/trajectories.md', () => {
  test('shows the record of a real attempt', async () => {
    const { record, transcript } = await exampleAttempt();
    await expectPart('example', `\`\`\`json\n${record}\`\`\``);
    await expectPart('transcript', `~~~~markdown\n${transcript}~~~~`);
  });

  test('shows the table of outcomes', () => expectPart('outcomes', outcomeTable()));

  test('names every field', async () => {
    const docs = await readFile(DOCS, 'utf8');
    for (const [line, schema] of Object.entries({
      header: headerLineSchema,
      turn: turnLineSchema,
      end: endLineSchema,
    })) {
      const part = docs.slice(docs.indexOf(`### The ${line} line`)).split(/\n##/)[0] ?? '';
      for (const field of fieldsOf(schema)) {
        expect(part, `the ${line} line`).toMatch(new RegExp(`\`${field}\\??\``));
      }
    }
  });
});

function fieldsOf(schema: z.ZodObject): readonly string[] {
  return Object.keys(schema.shape);
}

function outcomeTable(): string {
  const ends: readonly [string, AttemptEnd, Verdict?][] = [
    ['submitted, grading passes', { kind: 'submitted' }, 'passed'],
    [
      'submitted, passes only with its changes to tests',
      { kind: 'submitted' },
      'passed_with_test_changes',
    ],
    ['submitted, grading fails', { kind: 'submitted' }, 'failed'],
    ['submitted, could not be graded', { kind: 'submitted' }],
    ['a call that is not well-formed (strict rules)', { kind: 'invalid_tool_call', reason: '…' }],
    ...(
      ['turns', 'context_tokens', 'generated_tokens', 'time', 'reply', 'no_call', 'tries'] as const
    ).map((budget): [string, AttemptEnd] => [`budget: \`${budget}\``, { kind: 'budget', budget }]),
    ['cancelled', { kind: 'cancelled' }],
    ['infrastructure', { kind: 'infrastructure', reason: 'the reason' }],
  ];
  const yes = (value: boolean): string => (value ? 'yes' : 'no');
  const rows = ends.map(([what, attemptEnd, verdict]) => {
    const row = outcomeOf(attemptEnd, verdict);
    const reward = row.reward ?? 'none';
    return `| ${what} | \`${row.outcome}\` | ${reward} | ${yes(row.inGroupMean)} | ${yes(row.inGradient)} | ${row.reason} |`;
  });
  return [
    '| what happened | outcome | reward | in the group’s mean | in the gradient | reason in the record |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** A small attempt with every kind of line, in a real shell and with the real tools. */
async function exampleAttempt(): Promise<{ record: string; transcript: string }> {
  const workspace = join(folder, 'home', 'someone', 'sums');
  await mkdir(join(workspace, 'src'), { recursive: true });
  await writeFile(
    join(workspace, 'src/add.cjs'),
    `exports.add = (a, b) => a - b;\n// old key: API_TOKEN=${'Zk3v9'.repeat(4)}\n`,
  );
  const stateDir = join(folder, 'state');
  const made = await makeBase(workspace, { stateDir });
  if (made.kind !== 'base') throw new Error(made.reason);
  const redactor = createRedactor({ workspacePath: workspace, userName: 'someone' });
  const store = createTrajectoryStore(join(folder, 'trajectories'));
  const sink = await store.create({ workspacePath: workspace, attemptId: 'example', redactor });
  const session = await createNoneSandbox({ stateDir }).open({
    base: made.base,
    toolchain: { path: [join(process.execPath, '..')], mounts: [], env: {} },
    toolbox: {},
    limits: { processes: 256, fileBytes: 1e8 },
  });
  const script = [
    { name: 'bash', arguments: { command: 'cat src/add.cjs' } },
    {
      name: 'str_replace_editor',
      arguments: {
        command: 'str_replace',
        path: '/workspace/src/add.cjs',
        old_str: 'a - b',
        new_str: 'a + b',
      },
    },
    { name: 'submit', arguments: { summary: 'add subtracted.' } },
  ];
  const tokens = { promptIds: [1, 2, 3], sampledIds: [4, 5, 2], logprobs: [-0.25, -0.5, -0.125] };
  try {
    const messages = [
      { role: 'system' as const, content: SYSTEM_PROMPT },
      {
        role: 'user' as const,
        content: 'Make this failing test pass.\n\nFAIL test/add.test.js::adds',
      },
    ];
    const budgets = {
      turns: 30,
      contextTokens: 32_768,
      generatedTokens: 16_384,
      replyTokens: 2_048,
      timeMs: 600_000,
    };
    const task = { ...header().task, targets: ['test/add.test.js::adds'], workspaceName: 'sums' };
    await sink.append(header({ attemptId: 'example', sandbox: 'none', budgets, task, messages }));
    const result = await runLoop({
      policy: createScriptedPolicy(
        script.map((call, index) => ({ calls: [call], ...(index === 0 ? { tokens } : {}) })),
      ),
      tools: [
        createBashTool(session),
        createEditorTool(session),
        createSubmitTool(),
      ] as unknown as readonly Tool[],
      messages,
      budgets,
      rules: 'strict',
      seed: 7,
      redactor,
      sink,
      signal: new AbortController().signal,
    });
    const row = outcomeOf(result.end, 'passed');
    const diff = await session.run(
      { argv: ['git', 'diff'] },
      { timeoutMs: 10_000, maxOutputBytes: 1e5 },
    );
    await sink.append(
      end({
        end: { kind: 'submitted' },
        outcome: row.outcome,
        reward: row.reward,
        reason: row.reason,
        patch: Buffer.from(diff.output.head).toString('utf8'),
        summary: result.summary,
        totals: { ...result.totals, durationMs: 0 },
        localOnly: result.localOnly,
      }),
    );
  } finally {
    await session.close();
    await sink.close();
    await made.base.release();
  }
  const found = await store.find('example');
  if (found.kind !== 'found') throw new Error('the example is not in the store');
  const raw = await readFile(found.attempt.path, 'utf8');
  return {
    record: steady(raw),
    transcript: steady(toMarkdown(await store.read(found.attempt))),
  };
}

/** Times differ from run to run; everything else is the same on every machine. */
function steady(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-02T03:04:05.678Z')
    .replace(/"(durationMs|policyMs)":[\d.]+/g, '"$1":12');
}
