import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import {
  createOnnxEngine,
  type EngineModel,
  type EngineOptions,
  type GenerateRequest,
  type OnnxEngine,
} from '../../../../../src/core/policies/onnx/engine.ts';
import { NATIVE_SWITCH } from '../../../../../src/core/policies/onnx/protocol.ts';
import {
  builtWorker,
  type DecodeCase,
  decodeCases,
  SMALL_MODEL,
  SMALL_SHAPE,
} from '../../../../support/onnx.ts';

/**
 * Largest difference of a log-probability from PyTorch's. Seen: 7e-6 native, 9e-6 WASM (fp32 on
 * all sides, with other orders of the same sums).
 */
const TOLERANCE = 2e-5;

const workerFile = builtWorker();
const cases = await decodeCases();
const engines: OnnxEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

function start(options: EngineOptions = {}): OnnxEngine {
  const engine = createOnnxEngine({ workerFile: workerFile(), ...options });
  engines.push(engine);
  return engine;
}

async function open(options: EngineOptions = {}): Promise<EngineModel> {
  return start(options).open(SMALL_MODEL, SMALL_SHAPE);
}

const GREEDY = { temperature: 0, topP: 1, topK: -1 };

function request(changes: Partial<GenerateRequest>): GenerateRequest {
  return {
    session: 0,
    ids: [7],
    maxTokens: 20,
    stopId: -1,
    seed: 0,
    sampling: { temperature: 1, topP: 1, topK: -1 },
    signal: new AbortController().signal,
    ...changes,
  };
}

/** Two turns of a session, the second over the prefix that the first left. */
async function turns(model: EngineModel, session: number, given: DecodeCase): Promise<number> {
  const shared = { session, seed: given.seed, sampling: given.sampling };
  const first = await model.generate(request({ ...shared, ids: given.prompt }));
  expect(first.ids).toEqual(given.first.ids);
  const ids = [...given.prompt, ...first.ids, ...given.observation];
  const second = await model.generate(request({ ...shared, ids }));
  expect(second.ids).toEqual(given.second.ids);
  // The last token that was sampled is not in the cache yet.
  expect(second.reused).toBe(given.prompt.length + first.ids.length - 1);
  return Math.max(
    ...difference(first.logprobs, given.first.logprobs),
    ...difference(second.logprobs, given.second.logprobs),
  );
}

function difference(actual: readonly number[], expected: readonly number[]): number[] {
  expect(actual.length).toBe(expected.length);
  return actual.map((value, index) => Math.abs(value - (expected[index] ?? Number.NaN)));
}

describe.each(['auto', 'wasm'] as const)('against PyTorch, runtime %s', (runtime) => {
  test('the references say something: no draw hangs on the last digits', () => {
    const edges = cases.flatMap(({ first, second }) => [...first.edges, ...second.edges]);
    expect(edges.length).toBe(16 * 40);
    expect(Math.min(...edges)).toBeGreaterThan(1e-6);
  });

  test('sampled tokens and log-probabilities, one sequence at a time', async () => {
    const model = await open({ runtime });
    for (const [session, given] of cases.entries()) {
      expect(await turns(model, session, given)).toBeLessThan(TOLERANCE);
    }
  });

  test('sampled tokens and log-probabilities, 16 ragged sequences at once', async () => {
    const model = await open({ runtime });
    const worst = await Promise.all(cases.map((given, session) => turns(model, session, given)));
    expect(Math.max(...worst)).toBeLessThan(TOLERANCE);
  });

  test('greedy, wherever the two best are further apart than the tolerance', async () => {
    const model = await open({ runtime });
    const answers = await Promise.all(
      cases.map(({ prompt }, session) =>
        model.generate(request({ session, ids: prompt, maxTokens: 24, sampling: GREEDY })),
      ),
    );
    let compared = 0;
    for (const [index, { ids, logprobs }] of answers.entries()) {
      const given = cases[index];
      const unsure = given?.margins.findIndex((margin) => margin < 2 * TOLERANCE) ?? -1;
      const end = unsure < 0 ? 24 : unsure;
      expect(ids.slice(0, end)).toEqual(given?.greedy.slice(0, end));
      expect(logprobs).toEqual(Array(24).fill(0));
      compared += end;
    }
    expect(compared).toBeGreaterThan(16 * 20);
  });
});

describe('sampling', () => {
  test('a result depends on its seed, not on what is decoded beside it', async () => {
    const model = await open({ maxBatch: 3 });
    const prompt = cases[3]?.prompt ?? [];
    const one = (session: number, seed: number) =>
      model.generate(request({ session, ids: prompt, seed, maxTokens: 30 }));
    const alone = await one(0, 5);
    const crowd = await Promise.all([
      ...cases.map(({ prompt: ids }, index) =>
        model.generate(request({ session: 100 + index, ids, seed: index, maxTokens: 3 + index })),
      ),
      one(1, 5),
      one(2, 6),
      one(3, 5),
    ]);
    const [again, other, third] = crowd.slice(-3);
    expect(again?.ids).toEqual(alone.ids);
    expect(third?.ids).toEqual(alone.ids);
    expect(other?.ids).not.toEqual(alone.ids);
  });

  test('a session finds the beginning that another one computed', async () => {
    const model = await open();
    const prompt = cases[15]?.prompt ?? [];
    const first = await model.generate(request({ session: 1, ids: prompt, sampling: GREEDY }));
    const second = await model.generate(request({ session: 2, ids: prompt, sampling: GREEDY }));
    expect([first.reused, second.reused]).toEqual([0, prompt.length - 1]);
    expect(second.ids).toEqual(first.ids);
  });

  test('a cache that had no room is computed again', async () => {
    const given = cases[9];
    if (!given) throw new Error('no such case');
    const model = await open({ cacheBytes: 0 });
    const shared = { session: 1, seed: given.seed, sampling: given.sampling };
    await model.generate(request({ ...shared, ids: given.prompt }));
    const ids = [...given.prompt, ...given.first.ids, ...given.observation];
    const second = await model.generate(request({ ...shared, ids }));
    expect(second).toMatchObject({ reused: 0, ids: given.second.ids });
  });

  test('a stop token ends a reply, and is in it', async () => {
    const { prompt = [], greedy = [] } = cases[6] ?? {};
    const stopId = greedy[5] ?? -1;
    const model = await open();
    const answer = await model.generate(request({ ids: prompt, sampling: GREEDY, stopId }));
    expect(answer.finish).toBe('stop');
    expect(answer.ids).toEqual(greedy.slice(0, greedy.indexOf(stopId) + 1));
    const cut = await model.generate(request({ ids: prompt, sampling: GREEDY, maxTokens: 4 }));
    expect(cut).toMatchObject({ finish: 'length', ids: greedy.slice(0, 4) });
  });

  test('an edited history goes on from what it has in common with the cache', async () => {
    const { prompt = [], greedy = [] } = cases[12] ?? {};
    const model = await open();
    await model.generate(request({ ids: [...prompt.slice(0, 150), ...prompt.slice(21, 90)] }));
    const answer = await model.generate(request({ ids: prompt, sampling: GREEDY, maxTokens: 24 }));
    expect(answer.reused).toBe(150);
    expect(answer.ids).toEqual(greedy);
  });
});

describe.each(['auto', 'wasm'] as const)('replies from a set, runtime %s', (runtime) => {
  /** Some begin alike, two of one token differ in their last one only, and one is all by itself. */
  const STOP = 2;
  const replies = [
    ...[11, 12, 13].flatMap((first) =>
      [21, 22, 23, 24].map((second) => [9, first, 30 + second, second, STOP]),
    ),
    [9, 14, STOP],
    [9, 11, 40, STOP],
    [9, 11, 41, STOP],
  ].map((ids, at) => ({ ids, weight: 1 + (at % 5) }));

  /** Sums of the log-probabilities that draws at temperature 1 tell, by reply. */
  async function drawn(model: EngineModel, ids: readonly number[], set: typeof replies) {
    const told = new Map<string, number>();
    const draws = Array.from({ length: 400 }, (_, seed) =>
      model.generate(request({ session: 1000 + seed, ids, stopId: STOP, seed, replies: set })),
    );
    for (const { ids: reply, logprobs } of await Promise.all(draws)) {
      told.set(
        reply.join(),
        logprobs.reduce((sum, value) => sum + value, 0),
      );
    }
    return told;
  }

  test('the reply that draws say is most probable comes, choice after choice of a session', async () => {
    const model = await open({ runtime });
    const prompt = cases[11]?.prompt ?? [];
    let left = replies;
    for (let choice = 0; choice < 6; choice += 1) {
      const found = await model.generate(
        request({ session: 1, ids: prompt, stopId: STOP, sampling: GREEDY, replies: left }),
      );
      const told = await drawn(model, prompt, left);
      expect(told.get(found.ids.join())).toBeCloseTo(Math.max(...told.values()), 4);
      expect(found).toMatchObject({ finish: 'stop', logprobs: found.ids.map(() => 0) });
      expect(found.choices[0]?.at).toBe(1);
      left = left.filter(({ ids }) => ids.join() !== found.ids.join());
    }
    expect(left).toHaveLength(replies.length - 6);
  });

  test('what a draw tells is what the network says behind the whole text so far', async () => {
    const model = await open({ runtime });
    const prompt = cases[11]?.prompt ?? [];
    let compared = 0;
    for (const seed of [1, 2, 3]) {
      const one = await model.generate(
        request({ session: seed, ids: prompt, stopId: STOP, seed, replies }),
      );
      for (const { at, ids, bias } of one.choices) {
        // The same choice, behind a prompt of its own: a token, and the end.
        const set = ids.map((id, k) => ({ ids: [id, STOP], weight: Math.exp(bias[k] ?? 0) }));
        const behind = [...prompt, ...one.ids.slice(0, at)];
        let found: number | undefined;
        for (let draw = 0; draw < 200 && found === undefined; draw += 1) {
          const again = await model.generate(
            request({ session: 500, ids: behind, stopId: STOP, seed: draw, replies: set }),
          );
          if (again.ids[0] === one.ids[at]) found = again.logprobs[0];
        }
        expect(one.logprobs[at]).toBeCloseTo(found ?? Number.NaN, 4);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(3);
  });

  test('a share that the weights draw alone: as often as weights say, and what the network gives it is told', async () => {
    const model = await open({ runtime });
    const ids = cases[11]?.prompt ?? [];
    const ask = { ids, stopId: STOP, replies };
    const told = await drawn(model, ids, replies);
    const draws = await Promise.all(
      Array.from({ length: 400 }, (_, seed) =>
        model.generate(request({ ...ask, session: 2000 + seed, seed, byWeights: 0.75 })),
      ),
    );
    const byWeights = draws.filter(({ drawnBy }) => drawnBy === 'weights');
    expect(byWeights.length / draws.length).toBeCloseTo(0.75, 1);
    const total = replies.reduce((sum, { weight }) => sum + weight, 0);
    for (const heaviest of replies.filter(({ weight }) => weight === 5)) {
      const came = byWeights.filter((one) => one.ids.join() === heaviest.ids.join());
      expect(came.length / byWeights.length).toBeCloseTo(5 / total, 1);
    }
    for (const { ids: reply, networkLogprob } of draws) {
      const known = told.get(reply.join());
      if (known !== undefined) expect(networkLogprob).toBeCloseTo(known, 4);
    }
    const cubed = replies.reduce((sum, { weight }) => sum + weight ** 3, 0);
    const sharper = await Promise.all(
      Array.from({ length: 400 }, (_, seed) =>
        model.generate(
          request({ ...ask, session: 3000 + seed, seed, byWeights: 1, weightsPower: 3 }),
        ),
      ),
    );
    const heavy = replies.filter(({ weight }) => weight === 5).map((reply) => reply.ids.join());
    const came = sharper.filter((one) => heavy.includes(one.ids.join()));
    expect(came.length / sharper.length).toBeCloseTo((heavy.length * 125) / cubed, 1);
    // Again the same draws: they depend on seed and place alone.
    const again = await model.generate(request({ ...ask, session: 1, seed: 17, byWeights: 0.75 }));
    expect(again.ids).toEqual(draws[17]?.ids);
    const heaviest = await model.generate(
      request({ ...ask, session: 1, sampling: GREEDY, byWeights: 1 }),
    );
    expect(heaviest.ids).toEqual(replies.find(({ weight }) => weight === 5)?.ids);
    expect(heaviest.networkLogprob).toBeCloseTo(told.get(heaviest.ids.join()) ?? 0, 4);
  });

  test('a search can be cancelled, and the session goes on', async () => {
    const model = await open({ runtime });
    const ids = cases[15]?.prompt ?? [];
    const ask = { session: 1, ids, stopId: STOP, sampling: GREEDY, replies };
    const expected = await model.generate(request({ ...ask, session: 2 }));
    for (const wait of [undefined, 0, 1, 2]) {
      const stop = new AbortController();
      const ended = model
        .generate(request({ ...ask, signal: stop.signal }))
        .then(({ ids: reply }) => reply.join())
        .catch((error: Error) => error.message);
      if (wait !== undefined) await sleep(wait);
      stop.abort(new Error('enough'));
      // It takes a few milliseconds: it may have come to its end before.
      const outcomes = wait === undefined ? ['enough'] : ['enough', expected.ids.join()];
      expect(outcomes).toContain(await ended);
    }
    expect((await model.generate(request(ask))).ids).toEqual(expected.ids);
  });
});

describe('cancellation', () => {
  test('rejects at once with the reason, gives no more tokens, and the others go on', async () => {
    const model = await open();
    const stop = new AbortController();
    const reason = new Error('enough');
    let tokens = 0;
    const { prompt: ids = [], greedy } = cases[10] ?? {};
    const cancelled = model.generate(
      request({
        ids,
        session: 1,
        maxTokens: 350,
        signal: stop.signal,
        onTokens(sampled) {
          tokens += sampled.length;
          if (!stop.signal.aborted) stop.abort(reason);
        },
      }),
    );
    const other = model.generate(request({ ids, session: 2, sampling: GREEDY, maxTokens: 24 }));
    await expect(cancelled).rejects.toBe(reason);
    const seen = tokens;
    expect((await other).ids).toEqual(greedy);
    await sleep(50);
    expect(tokens).toBe(seen);
    expect(seen).toBeLessThan(350);
    // The session is as usable as before.
    const again = await model.generate(
      request({ ids, session: 1, sampling: GREEDY, maxTokens: 24 }),
    );
    expect(again.ids).toEqual(greedy);
  });

  test('a signal that has aborted starts nothing', async () => {
    const model = await open();
    await expect(
      model.generate(request({ signal: AbortSignal.abort(new Error('before')) })),
    ).rejects.toThrow('before');
  });

  test('requests that wait can be cancelled', async () => {
    const model = await open();
    const stop = new AbortController();
    const work = cases.map(({ prompt: ids }, session) =>
      model.generate(request({ ids, session, signal: stop.signal })).then(
        () => 'answer',
        (error: Error) => error.name,
      ),
    );
    stop.abort();
    expect(new Set(await Promise.all(work))).toEqual(new Set(['AbortError']));
    expect((await model.generate(request({ session: 99 }))).ids.length).toBe(20);
  });
});

describe('the process', () => {
  test.skipIf(process.platform === 'win32').each(['SIGSEGV', 'SIGILL', 'SIGABRT'] as const)(
    'a crash (%s) in the middle: WASM takes over, and every answer is the same',
    async (signal) => {
      const notices: string[] = [];
      const engine = start({ onNotice: (text) => notices.push(text) });
      const model = await engine.open(SMALL_MODEL, SMALL_SHAPE);
      const before = engine.status();
      expect(before.runtime).toBe('native');
      let killed = false;
      const answers = await Promise.all(
        cases.map((given, session) =>
          model.generate(
            request({
              session,
              ids: given.prompt,
              seed: given.seed,
              sampling: given.sampling,
              onTokens() {
                if (!killed && before.pid) process.kill(before.pid, signal);
                killed = true;
              },
            }),
          ),
        ),
      );
      expect(killed).toBe(true);
      expect(answers.map(({ ids }) => ids)).toEqual(cases.map(({ first }) => first.ids));
      for (const [index, { logprobs }] of answers.entries()) {
        const worst = difference(logprobs, cases[index]?.first.logprobs ?? []);
        expect(Math.max(...worst)).toBeLessThan(TOLERANCE);
      }
      expect(notices).toEqual([
        `The native ONNX runtime crashed (${signal}). The WASM runtime takes over: the same results, more slowly.`,
      ]);
      expect(engine.status().runtime).toBe('wasm');
      expect(engine.status().pid).not.toBe(before.pid);
    },
  );

  test('without the native runtime WASM is used from the start', async () => {
    const notices: string[] = [];
    const engine = start({
      onNotice: (text) => notices.push(text),
      env: { ...process.env, [NATIVE_SWITCH]: 'off' },
    });
    const model = await engine.open(SMALL_MODEL, SMALL_SHAPE);
    const { prompt: ids = [], greedy } = cases[4] ?? {};
    const answer = await model.generate(request({ ids, sampling: GREEDY, maxTokens: 24 }));
    expect(answer.ids).toEqual(greedy);
    expect(engine.status().runtime).toBe('wasm');
    expect(notices).toEqual([
      `The native ONNX runtime cannot be loaded here (${NATIVE_SWITCH} is off). The WASM runtime takes over: the same results, more slowly.`,
    ]);
  });

  test('a crash of WASM too is a failure with a remedy, for everything that runs', async () => {
    const engine = start({ runtime: 'wasm' });
    const model = await engine.open(SMALL_MODEL, SMALL_SHAPE);
    const { pid } = engine.status();
    const answer = model.generate(request({ maxTokens: 400 }));
    if (pid) process.kill(pid, 'SIGKILL');
    await expect(answer).rejects.toMatchObject({
      name: 'EngineFailure',
      message: expect.stringMatching(/WASM runtime ended unexpectedly \(SIGKILL\)/),
      remedy: expect.stringContaining('npm ci'),
    });
    await expect(model.generate(request({}))).rejects.toThrow('WASM runtime ended unexpectedly');
  });

  test('several versions of a model are open at a time', async () => {
    const engine = start();
    const old = await engine.open(SMALL_MODEL, SMALL_SHAPE);
    const { prompt: ids = [], greedy } = cases[2] ?? {};
    const running = old.generate(request({ ids, sampling: GREEDY, maxTokens: 24 }));
    const next = await engine.open(SMALL_MODEL, SMALL_SHAPE);
    expect((await running).ids).toEqual(greedy);
    old.close();
    await expect(old.generate(request({}))).rejects.toThrow('The embedded model is closed.');
    const answer = await next.generate(request({ ids, sampling: GREEDY, maxTokens: 24 }));
    expect(answer).toMatchObject({ ids: greedy, reused: 0 });
  });

  test('what is no model is refused with the reason', async () => {
    await expect(start().open('/nowhere', SMALL_SHAPE)).rejects.toMatchObject({
      name: 'EngineFailure',
      message: expect.stringMatching(/^The embedded model cannot be opened: .*nowhere/s),
    });
  });

  test('a package that was not built says so', async () => {
    await expect(
      start({ workerFile: '/nowhere/onnx-worker.js' }).open(SMALL_MODEL, SMALL_SHAPE),
    ).rejects.toMatchObject({
      name: 'EngineFailure',
      message: 'The program that runs embedded models is missing (/nowhere/onnx-worker.js).',
      remedy: 'Build it with npm run build.',
    });
  });

  test('closing ends the process', async () => {
    const engine = start();
    await engine.open(SMALL_MODEL, SMALL_SHAPE);
    const { pid = 0 } = engine.status();
    expect(process.kill(pid, 0)).toBe(true);
    await engine.close();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await expect(engine.open(SMALL_MODEL, SMALL_SHAPE)).rejects.toThrow('was closed');
  });
});
