import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toAtif } from '../../../../src/core/trajectories/export.ts';
import { toMarkdown } from '../../../../src/core/trajectories/transcript.ts';
import { end, header, trajectory, turn, withTokens } from './make.ts';

/**
 * The Agent Trajectory Interchange Format, version 1.7, written from its description and not from
 * the exporter. Strict: a field that the format does not know is an error.
 */
const extra = z.record(z.string(), z.unknown()).optional();
const atifSchema = z.strictObject({
  schema_version: z.literal('ATIF-v1.7'),
  session_id: z.string().optional(),
  trajectory_id: z.string().optional(),
  agent: z.strictObject({
    name: z.string(),
    version: z.string(),
    model_name: z.string().optional(),
    tool_definitions: z.array(z.record(z.string(), z.unknown())).optional(),
    extra,
  }),
  steps: z
    .array(
      z
        .strictObject({
          step_id: z.int().positive(),
          timestamp: z.iso.datetime().optional(),
          source: z.enum(['system', 'user', 'agent']),
          model_name: z.string().optional(),
          message: z.string(),
          reasoning_content: z.string().optional(),
          tool_calls: z
            .array(
              z.strictObject({
                tool_call_id: z.string(),
                function_name: z.string(),
                arguments: z.record(z.string(), z.unknown()),
              }),
            )
            .optional(),
          observation: z
            .strictObject({
              results: z.array(
                z.strictObject({
                  source_call_id: z.string().optional(),
                  content: z.string().optional(),
                }),
              ),
            })
            .optional(),
          metrics: z
            .strictObject({
              prompt_tokens: z.int().optional(),
              completion_tokens: z.int().optional(),
              cached_tokens: z.int().optional(),
              cost_usd: z.number().optional(),
              prompt_token_ids: z.array(z.int()).optional(),
              completion_token_ids: z.array(z.int()).optional(),
              logprobs: z.array(z.number()).optional(),
            })
            .optional(),
          extra,
        })
        .refine(
          (step) =>
            step.source === 'agent' ||
            (!step.model_name && !step.tool_calls && !step.metrics && !step.reasoning_content),
          { message: 'only steps of the agent have a model, calls, metrics or reasoning' },
        )
        .refine(
          ({ tool_calls = [], observation }) =>
            (observation?.results ?? []).every(
              ({ source_call_id: id }) =>
                id === undefined || tool_calls.some((call) => call.tool_call_id === id),
            ),
          { message: 'an observation answers a call of its own step' },
        ),
    )
    .min(1)
    .refine((steps) => steps.every((step, index) => step.step_id === index + 1), {
      message: 'step_id counts from 1',
    }),
  notes: z.string().optional(),
  final_metrics: z
    .strictObject({
      total_prompt_tokens: z.int().optional(),
      total_completion_tokens: z.int().optional(),
      total_cached_tokens: z.int().optional(),
      total_cost_usd: z.number().optional(),
      total_steps: z.int().optional(),
      extra,
    })
    .optional(),
  extra,
});

const rich = trajectory({
  turns: [
    withTokens(0, [1, 2], [3, 4]),
    turn(1, {
      reply: {
        ...turn(1).reply,
        content: 'I think ```so```.',
        reasoning: 'Hm.',
        calls: [],
        callForm: 'none',
        malformed: [{ reason: 'no name', text: '{"arguments": {}}' }],
        usage: { promptTokens: 3, completionTokens: 1, cost: 0.5 },
      },
      observations: [],
      nudge: 'Call a tool.',
    }),
  ],
  end: end({ flags: ['comparison: src/a.js'], totals: { ...end().totals, turns: 2, cost: 0.5 } }),
});

describe('ATIF', () => {
  test.each([
    ['a solved attempt', trajectory()],
    ['tokens, thinking, a malformed call, a nudge', rich],
    ['an attempt without an end', trajectory({ end: undefined, cut: true })],
    ['an attempt without turns', trajectory({ turns: [] })],
  ])('%s fits the format', (_, record) => {
    const written: unknown = JSON.parse(JSON.stringify(toAtif(record)));
    expect(atifSchema.parse(written)).toEqual(written);
  });

  test('says who, what, and with which tokens', () => {
    const { steps, ...root } = toAtif(rich);
    expect(steps.map((step) => [step.step_id, step.source, step.message])).toEqual([
      [1, 'system', 'You fix tests.'],
      [2, 'user', 'FAIL test/a.test.js::adds'],
      [3, 'agent', 'reply 0'],
      [4, 'agent', 'I think ```so```.'],
      [5, 'user', 'Call a tool.'],
    ]);
    expect(steps[2]?.metrics).toEqual({
      prompt_tokens: 10,
      completion_tokens: 3,
      prompt_token_ids: [1, 2],
      completion_token_ids: [3, 4],
      logprobs: [-0.3, -0.4],
    });
    expect(steps[2]?.observation).toEqual({
      results: [{ source_call_id: 'call-0', content: 'a.js' }],
    });
    expect(steps[3]?.reasoning_content).toBe('Hm.');
    expect(root.final_metrics).toEqual({
      total_prompt_tokens: 10,
      total_completion_tokens: 3,
      total_cost_usd: 0.5,
      total_steps: 5,
    });
    expect(root.extra).toMatchObject({ outcome: 'solved', reward: 1 });
  });
});

describe('transcript', () => {
  test('shows the whole attempt, and no text can end its fence', () => {
    const text = toMarkdown(rich);
    expect(text).toContain('# Attempt a-1\n');
    expect(text).toContain('- Outcome: solved, reward 1: all target tests pass');
    expect(text).toContain('**bash**\n\n```\ncommand: ls\n```');
    expect(text).toContain('bash returned:\n\n```\na.js\n```');
    expect(text).toContain('````\nI think ```so```.\n````');
    expect(text).toContain('Not a well-formed call (no name):');
    expect(text).toContain('Answer of the agent:\n\n```\nCall a tool.\n```');
    expect(text).toContain('```diff\n--- a/a.js');
    expect(text).toContain('- comparison: src/a.js');
  });

  test('says that a record is unfinished', () => {
    expect(toMarkdown(trajectory({ end: undefined, cut: true }))).toContain(
      '- Outcome: unfinished (the record was cut off in a line)',
    );
  });

  test('says that nothing was changed', () => {
    const record = trajectory({ header: header(), end: end({ patch: '', reward: null }) });
    expect(toMarkdown(record)).toContain('Nothing was changed.');
    expect(toMarkdown(record)).toContain('solved, no reward');
  });
});
