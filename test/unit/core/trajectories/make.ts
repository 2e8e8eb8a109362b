import type { EndLine, HeaderLine, TurnLine } from '../../../../src/core/trajectories/schema.ts';
import type { Trajectory } from '../../../../src/core/trajectories/trajectory.ts';

/** Small, complete records for tests of what happens to them. */

export function header(over: Partial<HeaderLine> = {}): HeaderLine {
  return {
    type: 'header',
    version: '1.0',
    attemptId: 'a-1',
    seriesId: 's-1',
    startedAt: '2026-01-02T03:04:05.000Z',
    agent: { name: 'prime-agent', version: '0.1.0' },
    policy: {
      kind: 'scripted',
      label: 'scripted',
      model: 'scripted',
      sampling: { temperature: 1, topP: 1, topK: -1 },
    },
    scaffoldHash: 'f'.repeat(64),
    rules: 'strict',
    seed: 7,
    sandbox: 'none',
    budgets: {
      turns: 10,
      contextTokens: 1000,
      generatedTokens: 1000,
      replyTokens: 100,
      timeMs: 60_000,
    },
    task: {
      id: 't-1',
      framework: 'node:test',
      targets: ['test/a.test.js::adds'],
      snapshotId: 'snap',
      workspaceName: 'shop',
    },
    messages: [
      { role: 'system', content: 'You fix tests.' },
      { role: 'user', content: 'FAIL test/a.test.js::adds' },
    ],
    ...over,
  };
}

export function turn(index: number, over: Partial<TurnLine> = {}): TurnLine {
  return {
    type: 'turn',
    index,
    startedAt: '2026-01-02T03:04:06.000Z',
    reply: {
      content: `reply ${index}`,
      calls: [{ id: `call-${index}`, name: 'bash', arguments: { command: 'ls' } }],
      callForm: 'native',
      malformed: [],
      finish: 'stop',
      usage: { promptTokens: 10, completionTokens: 3 },
    },
    observations: [
      { callId: `call-${index}`, name: 'bash', ok: true, content: 'a.js', durationMs: 3 },
    ],
    policyMs: 12,
    ...over,
  };
}

export function withTokens(
  index: number,
  promptIds: readonly number[],
  sampledIds: readonly number[],
): TurnLine {
  const plain = turn(index);
  const tokens = {
    promptIds: [...promptIds],
    sampledIds: [...sampledIds],
    logprobs: sampledIds.map((id) => -(id % 7) / 10),
  };
  return { ...plain, reply: { ...plain.reply, tokens } };
}

export function end(over: Partial<EndLine> = {}): EndLine {
  return {
    type: 'end',
    endedAt: '2026-01-02T03:05:05.000Z',
    end: { kind: 'submitted' },
    outcome: 'solved',
    reward: 1,
    reason: 'all target tests pass, and none that passed before fails',
    patch: '--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-1\n+2\n',
    summary: 'One was two.',
    flags: [],
    leniencyUsed: false,
    localOnly: false,
    totals: { turns: 1, promptTokens: 10, completionTokens: 3, durationMs: 1500 },
    ...over,
  };
}

export function trajectory(over: Partial<Trajectory> = {}): Trajectory {
  return { header: header(), turns: [turn(0)], end: end(), cut: false, ...over };
}
