import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { createOnnxEngine, type EngineModel } from '../../src/core/policies/onnx/engine.ts';
import { packageFolder } from '../../src/core/policies/onnx/worker-file.ts';
import { median } from './table.ts';

const PEER = '@huggingface/transformers@4.3.2';
const ROUNDS = 5;
const PROMPT_TOKENS = 600;
const REPLY_TOKENS = 60;
const SHAPE = { vocabulary: 768, layers: 4, heads: 6, kvHeads: 2, headSize: 32 };

/**
 * Tokens per second of replies, one thread each: our decoder next to transformers.js with the same
 * weights, in turn in the same run. Both read a prompt of 600 tokens and write 60, greedily; the
 * second line of each batch leaves out the time of the same with one token.
 *
 * @param python of an environment with the learner's packages; without it nothing is measured
 */
export async function nanoDecode(python: string | undefined): Promise<string> {
  if (!python) return '| not measured: the learner’s Python packages are missing | | | |';
  const folder = await mkdtemp(join(tmpdir(), 'prime-agent-bench-nano-'));
  const engine = createOnnxEngine({ threads: 1, maxBatch: 64 });
  let peer: Peer | undefined;
  try {
    makeModels(python, folder);
    peer = await startPeer(folder);
    const model = await engine.open(join(folder, 'ours'), SHAPE);
    const lines: string[] = [];
    let session = 0;
    for (const batch of [1, 16]) {
      const whole = { ours: [] as number[], peers: [] as number[] };
      const alone = { ours: [] as number[], peers: [] as number[] };
      for (let round = 0; round < ROUNDS; round += 1) {
        const times: { own: Answer; theirs: Answer }[] = [];
        for (const tokens of [1, REPLY_TOKENS]) {
          const prompts = promptsOf(batch, 2 * round + Math.min(1, tokens - 1));
          const theirs = await peer.generate(prompts, tokens);
          const own = await generate(model, prompts, tokens, session);
          session += batch;
          if (`${own.first}` !== `${theirs.first}`) throw new Error('they write different tokens');
          times.push({ own, theirs });
        }
        const [first, all] = times;
        if (!first || !all) throw new Error('unreachable');
        const rate = (tokens: number, ms: number) => (batch * tokens * 1000) / ms;
        whole.ours.push(rate(REPLY_TOKENS, all.own.ms));
        whole.peers.push(rate(REPLY_TOKENS, all.theirs.ms));
        alone.ours.push(rate(REPLY_TOKENS - 1, all.own.ms - first.own.ms));
        alone.peers.push(rate(REPLY_TOKENS - 1, all.theirs.ms - first.theirs.ms));
      }
      lines.push(line(`${batch}, prompt and reply`, whole));
      lines.push(line(`${batch}, behind the first token`, alone));
    }
    return lines.join('\n');
  } finally {
    peer?.child.kill();
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function line(name: string, rates: { ours: readonly number[]; peers: readonly number[] }): string {
  const [own, other] = [median(rates.ours), median(rates.peers)];
  return `| ${name} | ${own.toFixed(0)} | ${other.toFixed(0)} | ${(own / other).toFixed(1)} |`;
}

interface Answer {
  readonly ms: number;
  readonly first: readonly number[];
}

interface Peer {
  readonly child: ChildProcess;
  generate(prompts: readonly (readonly number[])[], tokens: number): Promise<Answer>;
}

function makeModels(python: string, folder: string): void {
  execFileSync(python, [join(packageFolder(), 'test/bench/make_nano_model.py'), folder], {
    env: { ...process.env, PYTHONPATH: join(packageFolder(), 'server/learner') },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** Installed here and not for everybody: it brings a second ONNX Runtime and an image library. */
async function startPeer(folder: string): Promise<Peer> {
  const script = 'transformers-js-peer.mjs';
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  await copyFile(join(packageFolder(), 'test/bench', script), join(folder, script));
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', PEER], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const child = spawn(process.execPath, [script, join(folder, 'peer')], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const line = await answers.next();
    if (line.done) throw new Error('transformers.js ended (see above)');
    return line.value;
  };
  await next();
  return {
    child,
    async generate(prompts, tokens) {
      child.stdin.write(`${JSON.stringify({ prompts, tokens })}\n`);
      return JSON.parse(await next());
    },
  };
}

async function generate(
  model: EngineModel,
  prompts: readonly (readonly number[])[],
  maxTokens: number,
  firstSession: number,
): Promise<Answer> {
  const began = performance.now();
  const replies = await Promise.all(
    prompts.map((ids, index) =>
      model.generate({
        session: firstSession + index,
        ids,
        maxTokens,
        stopId: -1,
        seed: 0,
        sampling: { temperature: 0, topP: 1, topK: -1 },
        signal: new AbortController().signal,
      }),
    ),
  );
  const ms = performance.now() - began;
  return { ms, first: replies[0]?.ids.slice(0, 5) ?? [] };
}

/** Different from the first token on, so that no prompt is found in a cache. */
function promptsOf(batch: number, round: number): number[][] {
  return Array.from({ length: batch }, (_, row) =>
    Array.from({ length: PROMPT_TOKENS }, (_, place) => {
      const mixed = Math.imul(place + 1, 2_654_435_761) ^ ((row + 1) * 40_503 + round * 7_919);
      return 7 + ((mixed >>> 7) % (SHAPE.vocabulary - 7));
    }),
  );
}
