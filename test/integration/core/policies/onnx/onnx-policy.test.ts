import { afterEach, expect, test } from 'vitest';
import type { Message } from '../../../../../src/core/agent/messages.ts';
import { encodeMessages } from '../../../../../src/core/policies/onnx/chat-format.ts';
import { createOnnxEngine } from '../../../../../src/core/policies/onnx/engine.ts';
import {
  createOnnxPolicy,
  type OnnxPolicy,
  type OnnxPolicyOptions,
} from '../../../../../src/core/policies/onnx/onnx-policy.ts';
import type { PolicyReply, PolicyRequest } from '../../../../../src/core/policies/policy.ts';
import { builtWorker, SMALL_MANIFEST, smallPolicy } from '../../../../support/onnx.ts';
import { BEGIN, continued, SOURCE } from '../../../../support/total-workspace.ts';

const workerFile = builtWorker();
const policies: OnnxPolicy[] = [];
afterEach(async () => {
  for (const policy of policies.splice(0)) await policy.close();
});

async function create(changes: Partial<OnnxPolicyOptions> = {}): Promise<OnnxPolicy> {
  const created = await createOnnxPolicy({
    folder: changes.folder ?? (await smallPolicy()),
    scaffoldHash: SMALL_MANIFEST.scaffoldHash,
    engineOptions: { workerFile: workerFile() },
    ...changes,
  });
  if (created.kind !== 'policy') throw new Error(created.reason);
  policies.push(created.policy);
  return created.policy;
}

const start: readonly Message[] = [
  { role: 'system', content: 'You fix failing tests.' },
  { role: 'user', content: 'Make this failing test pass.' },
];

function request(messages: readonly Message[], changes: Partial<PolicyRequest> = {}) {
  const signal = new AbortController().signal;
  return { messages, tools: [], maxTokens: 30, signal, ...changes };
}

function answered(messages: readonly Message[], reply: PolicyReply, observation: string) {
  const { content, calls, callForm } = reply;
  return [
    ...messages,
    { role: 'assistant', content, calls, callForm },
    { role: 'user', content: observation },
  ] as const;
}

test('a reply has its tokens, its text as it was streamed, and what was used', async () => {
  const policy = await create();
  expect(policy.description).toEqual({
    kind: 'onnx',
    label: 'small',
    model: 'small',
    hash: policy.folder.weightsHash,
    scaffoldHash: SMALL_MANIFEST.scaffoldHash,
    contextTokens: 512,
    sampling: { temperature: 1, topP: 1, topK: -1 },
  });
  const session = await policy.start(7);
  let text = '';
  const reply = await session.next(
    request(start, {
      onText(part) {
        text += part;
      },
    }),
  );
  const { tokenizer } = policy.folder;
  const prompt = [
    // Without the system message: the manifest says `omitted`.
    ...encodeMessages(tokenizer, [{ role: 'user', content: 'Make this failing test pass.' }]),
    ...encodeMessages(tokenizer, [{ role: 'assistant', content: '', calls: [] }]).slice(0, -2),
  ];
  expect(reply.tokens?.promptIds).toEqual(prompt);
  expect(reply.tokens?.logprobs.length).toBe(reply.tokens?.sampledIds.length);
  expect(reply.usage).toEqual({
    promptTokens: prompt.length,
    completionTokens: reply.tokens?.sampledIds.length,
  });
  expect(reply.content).not.toBe('');
  // The end of a text that is no whole character is not streamed.
  expect(reply.content.startsWith(text)).toBe(true);
  expect(reply.content.slice(text.length)).toMatch(/^\ufffd*$/);
  expect(['stop', 'length']).toContain(reply.finish);
});

test('turns continue exactly what was prompted and sampled', async () => {
  const policy = await create();
  const session = await policy.start(3);
  let messages: readonly Message[] = start;
  let known: readonly number[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    const { tokens, ...reply } = await session.next(request(messages, { maxTokens: 25 }));
    expect(tokens?.promptIds.slice(0, known.length)).toEqual(known);
    known = [...(tokens?.promptIds ?? []), ...(tokens?.sampledIds ?? [])];
    messages = answered(messages, reply, `Observation ${turn}`);
  }
});

test('the same seed gives the same attempt, alone or among others; another seed another', async () => {
  const policy = await create();
  const attempt = async (seed: number): Promise<readonly string[]> => {
    const session = await policy.start(seed);
    const first = await session.next(request(start));
    const second = await session.next(request(answered(start, first, 'ok')));
    await session.close();
    return [first.content, second.content];
  };
  const alone = await attempt(11);
  const together = await Promise.all([11, 12, 13, 11, 14].map(attempt));
  expect(together[0]).toEqual(alone);
  expect(together[3]).toEqual(alone);
  expect(new Set(together.map(([first]) => first)).size).toBe(4);
});

test('a prompt that leaves no room for a reply is context-exceeded; a reply ends with the room', async () => {
  const policy = await create({ folder: await smallPolicy({ contextTokens: 40 }) });
  const session = await policy.start(1);
  await expect(
    session.next(request([{ role: 'user', content: 'x y '.repeat(60) }])),
  ).rejects.toMatchObject({
    name: 'PolicyFailure',
    kind: 'context-exceeded',
    message: expect.stringMatching(
      /^The conversation has \d+ tokens; small can read 40 with its reply\.$/,
    ),
    remedy: 'Give it a smaller task, or use a model with more context.',
  });
  const reply = await session.next(
    request([{ role: 'user', content: 'x y '.repeat(6) }], { maxTokens: 500 }),
  );
  const { promptTokens, completionTokens } = reply.usage;
  expect(promptTokens + completionTokens).toBeLessThanOrEqual(40);
  if (reply.finish === 'length') expect(promptTokens + completionTokens).toBe(40);
});

test('cancelled in the middle of a reply', async () => {
  const policy = await create();
  const session = await policy.start(1);
  const stop = new AbortController();
  const reply = session.next(
    request(start, {
      maxTokens: 400,
      signal: stop.signal,
      onText: () => stop.abort(new Error('no')),
    }),
  );
  await expect(reply).rejects.toThrow('no');
});

test('new weights are for new attempts; a folder that is refused changes nothing', async () => {
  const policy = await create();
  const before = await policy.start(1);
  const first = await before.next(request(start));
  const next = await smallPolicy({
    version: 'policy-v2',
    sampling: { temperature: 0, topP: 1, topK: -1 },
  });
  expect(await policy.reload('/nowhere')).toMatchObject({
    cause: 'folder',
    reason: 'There is no folder /nowhere.',
  });
  expect(policy.description.version).toBeUndefined();
  expect(await policy.reload(next)).toBeUndefined();
  expect(policy.description).toMatchObject({ version: 'policy-v2', sampling: { temperature: 0 } });

  const after = await policy.start(1);
  const greedy = await after.next(request(start));
  expect(greedy.tokens?.logprobs.every((value) => value === 0)).toBe(true);
  const second = await before.next(request(answered(start, first, 'ok')));
  expect(second.tokens?.logprobs.some((value) => value < 0)).toBe(true);
  await before.close();
  expect((await after.next(request(answered(start, greedy, 'ok')))).content).not.toBe('');
});

const REPLIES = { from: 'known-edits', priorPower: 1, mostEdits: 400 } as const;

async function choosing(changes: Partial<OnnxPolicyOptions> = {}) {
  const folder = await smallPolicy({ replies: REPLIES, contextTokens: 512 });
  return create({ folder, sampling: { temperature: 1, topP: 1, topK: -1 }, ...changes });
}

/** Turns of an attempt that nothing helps, until so many edits were drawn. */
async function attempt(
  policy: OnnxPolicy,
  seed: number,
  edits: number,
  onText?: () => void,
): Promise<readonly PolicyReply[]> {
  const session = await policy.start(seed);
  const replies: PolicyReply[] = [];
  let messages = BEGIN;
  while (replies.filter(({ tokens }) => tokens).length < edits) {
    const reply = await session.next(request(messages, onText && { onText }));
    replies.push(reply);
    messages = continued(messages, reply);
  }
  await session.close();
  return replies;
}

const drawn = (replies: readonly PolicyReply[]) => replies.filter(({ tokens }) => tokens);

test('replies from a set: what follows by itself is not sampled, an edit is, and tells what else could have come', async () => {
  const replies = await attempt(await choosing(), 5, 1);
  for (const reply of replies.slice(0, -1)) {
    expect(reply.calls.length).toBeGreaterThan(0);
    expect(reply.tokensMissing).toBe('nothing was sampled: only this could follow');
  }
  const edit = replies.at(-1);
  expect(edit).toMatchObject({
    callForm: 'nano',
    malformed: [],
    finish: 'stop',
    calls: [
      {
        name: 'str_replace_editor',
        arguments: { command: 'str_replace', path: '/workspace/src/total.js', old_str: SOURCE },
      },
    ],
  });
  const { sampledIds = [], logprobs = [], choices = [] } = edit?.tokens ?? {};
  expect(choices.length).toBeGreaterThan(0);
  for (const { at, ids } of choices) expect(ids).toContain(sampledIds[at]);
  const places = new Set(choices.map(({ at }) => at));
  for (const [at, logprob] of logprobs.entries()) {
    if (places.has(at)) expect(logprob).toBeLessThan(0);
    else expect(logprob).toBe(0);
  }
});

test('replies from a set: no edit comes twice, the prompt does not grow, tests and undoing follow', async () => {
  const replies = await attempt(await choosing(), 6, 8);
  const edits = drawn(replies);
  expect(new Set(edits.map(({ calls }) => JSON.stringify(calls[0]?.arguments))).size).toBe(8);
  expect(new Set(edits.map(({ tokens }) => JSON.stringify(tokens?.promptIds))).size).toBe(1);
  const first = replies.findIndex(({ tokens }) => tokens);
  expect(
    replies[first + 1]?.calls.map(({ name, arguments: args }) => [name, args.command]),
  ).toEqual([
    ['run_tests', undefined],
    ['str_replace_editor', 'undo_edit'],
  ]);
});

test('replies from a set are the same for the same seed, also after the process of the model has ended', async () => {
  const once = async (kill: boolean): Promise<PolicyReply['tokens']> => {
    const engine = createOnnxEngine({ workerFile: workerFile() });
    const policy = await choosing({ engine });
    let killed = false;
    const replies = await attempt(policy, 9, 1, () => {
      const { pid } = engine.status();
      if (kill && !killed && pid !== undefined) process.kill(pid, 'SIGKILL');
      killed ||= pid !== undefined;
    });
    expect(engine.status().runtime).toBe(kill ? 'wasm' : 'native');
    await engine.close();
    return drawn(replies)[0]?.tokens;
  };
  const plain = await once(false);
  const interrupted = await once(true);
  expect(interrupted?.sampledIds).toEqual(plain?.sampledIds);
  expect(interrupted?.choices).toEqual(plain?.choices);
});
