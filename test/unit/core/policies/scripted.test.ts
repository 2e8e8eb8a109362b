import { expect, test } from 'vitest';
import { PolicyFailure } from '../../../../src/core/policies/policy.ts';
import { createScriptedPolicy, type Script } from '../../../../src/core/policies/scripted.ts';

async function run(script: Script, turns: number, signal = new AbortController().signal) {
  const session = await createScriptedPolicy(script).start(3);
  const replies = [];
  for (let turn = 0; turn < turns; turn += 1) {
    replies.push(
      await session.next({
        messages: [{ role: 'user', content: 'a b' }],
        tools: [],
        maxTokens: 9,
        signal,
      }),
    );
  }
  return replies;
}

test('a list is played in order, text is read like that of a model, the end holds no call', async () => {
  const tokens = { promptIds: [1], sampledIds: [2], logprobs: [-1] };
  const replies = await run(
    [
      '<tool_call>{"name": "f", "arguments": {}}</tool_call>',
      { calls: [{ name: 'g', arguments: { a: 1 } }], tokens },
      '<tool_call>{',
    ],
    4,
  );
  expect(replies).toMatchObject([
    { callForm: 'hermes', calls: [{ id: 'call00001', name: 'f' }], malformed: [] },
    {
      callForm: 'native',
      calls: [{ id: 'call00002', name: 'g' }],
      tokens,
      usage: { promptTokens: 2 },
    },
    { calls: [], malformed: [{}] },
    { calls: [], malformed: [], callForm: 'none' },
  ]);
});

test('a function sees turn, seed and messages, and may fail', async () => {
  const script: Script = ({ index, seed, request }) => {
    if (index === 1) throw new PolicyFailure('unreachable', 'gone');
    return `${seed} ${request.messages.length}`;
  };
  expect(await run(script, 1)).toMatchObject([{ content: '3 1' }]);
  await expect(run(script, 2)).rejects.toMatchObject({ kind: 'unreachable' });
});

test('a script that never answers ends with the signal', async () => {
  const reason = new Error('enough');
  const controller = new AbortController();
  const work = run(() => new Promise(() => {}), 1, controller.signal);
  controller.abort(reason);
  await expect(work).rejects.toBe(reason);
});
