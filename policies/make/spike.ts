import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { OnnxPolicy } from '../../src/core/policies/onnx/onnx-policy.ts';
import type { PolicyManifest } from '../../src/core/policies/onnx/policy-folder.ts';
import { eachLimited } from '../../src/core/snapshot/limited.ts';
import { createChance } from '../../src/core/tasks/random.ts';
import type { TestRuns } from '../../src/core/tasks/rehearsal/memory-session.ts';
import { rehearse } from '../../src/core/tasks/rehearsal/rehearse.ts';
import { trainingRows } from '../../src/core/trajectories/rows.ts';
import type { Budgets, TurnLine } from '../../src/core/trajectories/schema.ts';
import { startGrpo } from './grpo-process.ts';
import type { LearnerPlace } from './learner.ts';
import type { TaskWithTree } from './split.ts';

export interface SpikeOptions {
  /** `random`: rewards by a coin with the share of the true ones; must not gain. */
  readonly arm: 'grpo' | 'random' | 'supervised';
  readonly seed: number;
  readonly steps: number;
  readonly tasksPerStep: number;
  readonly groupSize: number;
  readonly rate: number;
  readonly budgets: Budgets;
  /** Of the warm start, with the tokenizer. */
  readonly model: string;
  /** The folder of the policy that samples; its manifest and tokenizer are those of every version. */
  readonly policyFolder: string;
  readonly policy: OnnxPolicy;
  readonly tasks: readonly TaskWithTree[];
  /** Arm `supervised`: rows of demonstrations, JSON Lines without reinforcement. */
  readonly demonstrations?: readonly string[];
  readonly work: string;
  readonly testRuns: TestRuns;
  readonly place: LearnerPlace;
  readonly say: (text: string) => void;
  /** After each step, with the folder of the new version; its time is not the step's. */
  readonly onVersion?: (step: number, folder: string) => Promise<void>;
}

export interface SpikeStep {
  readonly step: number;
  readonly solved: number;
  readonly attempts: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly rolloutSeconds: number;
  readonly learnSeconds: number;
  readonly swapSeconds: number;
  readonly learner: Readonly<Record<string, unknown>>;
}

const PARALLEL = 64;

/** On-policy GRPO with the real agent loop as environment, or one of its controls. */
export async function runSpike(options: SpikeOptions): Promise<readonly SpikeStep[]> {
  const { arm, seed, steps, work, policy, say } = options;
  await mkdir(work, { recursive: true });
  const learner = await startGrpo(
    {
      model: options.model,
      training: { rate: options.rate, seed },
      run: join(work, 'run'),
      publish: join(work, 'published'),
    },
    options.place,
  );
  let { version, folder } = learner.first;
  await swap(options, learner.first.folder);
  const done: SpikeStep[] = [];
  for (let step = 0; step < steps; step += 1) {
    const began = performance.now();
    const rolled =
      arm === 'supervised'
        ? demonstrationRows(options, step)
        : await rollOut(options, step, version);
    const rowsFile = join(work, `rows-${step}.jsonl`);
    await writeFile(rowsFile, rolled.rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const rolledAt = performance.now();
    const answer = await learner.step({
      kind: arm === 'supervised' ? 'supervised' : 'grpo',
      rows: rowsFile,
      policy_version: version,
    });
    ({ version, folder } = answer.published);
    const learntAt = performance.now();
    await swap(options, answer.published.folder);
    const swappedAt = performance.now();
    const line: SpikeStep = {
      step: step + 1,
      solved: rolled.solved,
      attempts: rolled.attempts,
      outcomes: rolled.outcomes,
      rolloutSeconds: (rolledAt - began) / 1000,
      learnSeconds: (learntAt - rolledAt) / 1000,
      swapSeconds: (swappedAt - learntAt) / 1000,
      learner: answer.metrics,
    };
    done.push(line);
    await writeFile(
      join(work, 'steps.jsonl'),
      done.map((each) => `${JSON.stringify(each)}\n`).join(''),
    );
    const share = rolled.attempts > 0 ? ((100 * rolled.solved) / rolled.attempts).toFixed(1) : '-';
    say(
      `${arm} ${seed}: step ${step + 1}, ${share} % of ${rolled.attempts} solved, ${((swappedAt - began) / 1000).toFixed(1)} s`,
    );
    await options.onVersion?.(step + 1, folder);
  }
  await learner.finish(join(work, 'model'));
  await policy.reload(options.policyFolder);
  return done;
}

interface Rolled {
  readonly rows: readonly unknown[];
  readonly solved: number;
  readonly attempts: number;
  readonly outcomes: Readonly<Record<string, number>>;
}

async function rollOut(options: SpikeOptions, step: number, version: number): Promise<Rolled> {
  const { arm, seed, tasksPerStep, groupSize, tasks, budgets, testRuns, policy } = options;
  const chosen = createChance('spike', seed, step).shuffle(tasks).slice(0, tasksPerStep);
  const wanted = chosen.flatMap((item) =>
    Array.from({ length: groupSize }, (_, index) => ({ ...item, index })),
  );
  const ended: {
    group: string;
    rollout: string;
    reward: 0 | 1 | null;
    inGradient: boolean;
    turns: TurnLine[];
    outcome: string;
  }[] = [];
  await eachLimited(wanted, PARALLEL, async ({ task, tree, index }) => {
    const turns: TurnLine[] = [];
    const attempt = await rehearse(
      {
        task,
        tree,
        policy,
        seed: createChance('rollout', seed, step, task.id, index).int(0, 2 ** 31 - 1),
        budgets,
        rules: 'strict',
        sink: {
          append: async (line) => {
            if (line.type === 'turn') turns.push(line);
          },
        },
        signal: new AbortController().signal,
      },
      testRuns,
    );
    const { reward, inGradient, outcome } = attempt.row;
    ended.push({
      group: task.id,
      rollout: `${task.id}-${index}`,
      reward,
      inGradient,
      turns,
      outcome,
    });
  });
  ended.sort((a, b) => (a.rollout < b.rollout ? -1 : 1));
  const solved = ended.filter(({ reward }) => reward === 1).length;
  const coin = createChance('coin', seed, step);
  const rows = ended.flatMap(({ group, rollout, reward, inGradient, turns }) => {
    const given =
      reward !== null && arm === 'random' ? Number(coin.chance(solved / ended.length)) : reward;
    return trainingRows(turns).rows.map((row, at) => ({
      id: `${rollout}-${at}`,
      ids: row.ids,
      loss_mask: row.lossMask,
      ...(row.choices && { choices: row.choices }),
      reinforcement: {
        group,
        rollout,
        policy_version: version,
        logprobs: row.logprobs,
        reward: given,
        in_gradient: inGradient,
      },
    }));
  });
  const outcomes: Record<string, number> = {};
  for (const { outcome } of ended) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  return { rows, solved, attempts: ended.length, outcomes };
}

/** As many demonstrations as GRPO has attempts in a step. */
function demonstrationRows(options: SpikeOptions, step: number): Rolled {
  const { demonstrations = [], tasksPerStep, groupSize, seed } = options;
  const chance = createChance('demonstrations', seed, step);
  const rows = chance
    .shuffle(demonstrations)
    .slice(0, tasksPerStep * groupSize)
    .map((line) => JSON.parse(line) as unknown);
  return { rows, solved: 0, attempts: 0, outcomes: {} };
}

/** New weights for the attempts from now on. */
async function swap(options: SpikeOptions, published: string): Promise<void> {
  const folder = await asPolicyFolder(options.policyFolder, published);
  const problem = await options.policy.reload(folder);
  if (problem) throw new Error(`${problem.reason} ${problem.remedy}`);
}

/** A published version has weights and graph; manifest and tokenizer stay those of the policy. */
async function asPolicyFolder(policyFolder: string, published: string): Promise<string> {
  for (const name of ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja']) {
    await cp(join(policyFolder, name), join(published, name), {
      force: false,
      errorOnExist: false,
    });
  }
  const manifest = JSON.parse(
    await readFile(join(policyFolder, 'policy.json'), 'utf8'),
  ) as PolicyManifest;
  await writeFile(join(published, 'policy.json'), JSON.stringify(manifest));
  return published;
}
