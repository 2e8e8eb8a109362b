import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { currentScaffoldHash } from '../../src/core/fix/scaffold.ts';
import { createOnnxEngine } from '../../src/core/policies/onnx/engine.ts';
import { createOnnxPolicy } from '../../src/core/policies/onnx/onnx-policy.ts';
import { readTaskSet } from '../../src/core/tasks/task-set.ts';
import { measureFolder, type PartFigures } from './evaluate.ts';
import { type LearnerPlace, runLearner } from './learner.ts';
import { openRuns, required, say } from './process.ts';
import { FULL } from './settings.ts';
import { runSpike, type SpikeOptions } from './spike.ts';
import { tasksOf } from './split.ts';

/**
 * `npm run policy:spike`: what GRPO learns on this machine in so many steps, from the policy that
 * ships, next to a control (`--arm random`, `--arm supervised`). Held-out tasks are measured before
 * the first step and after the last one; docs/learning.md has what came out.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      arm: { type: 'string', default: 'grpo' },
      seed: { type: 'string', default: '1' },
      steps: { type: 'string', default: '20' },
      tasks: { type: 'string', default: '16' },
      group: { type: 'string', default: '8' },
      rate: { type: 'string', default: '5e-5' },
      threads: { type: 'string', default: '2' },
      limit: { type: 'string', default: '185' },
      /** Every so many steps so many held-out tasks are played greedily, for the curve. */
      every: { type: 'string', default: '5' },
      'curve-limit': { type: 'string', default: '60' },
      work: { type: 'string' },
    },
  });
  const arm = armOf(values.arm);
  const nano = required('PRIME_AGENT_WORK');
  const policyFolder = join(nano, 'nano');
  const work = values.work ?? join(nano, `spike-${arm}-${values.seed}`);
  const place: LearnerPlace = {
    python: required('PRIME_AGENT_LEARNER_PYTHON'),
    source: required('PRIME_AGENT_LEARNER'),
    threads: Number(values.threads),
  };
  // One that was interrupted starts anew: its minutes would not be those of one piece.
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const { testRuns } = await openRuns();
  const set = await readTaskSet(join(nano, 'evaluation.jsonl.gz'));
  const engine = createOnnxEngine();
  const sampled = await createOnnxPolicy({
    folder: policyFolder,
    scaffoldHash: currentScaffoldHash(),
    sampling: { temperature: 1, topP: 1, topK: -1 },
    engine,
  });
  if (sampled.kind === 'problem') throw new Error(`${sampled.reason} ${sampled.remedy}`);
  const { policy } = sampled;
  const measureNow = (
    name: string,
    folder: string,
    samplings: typeof FULL.measured.samplings,
    limit: number,
  ): Promise<readonly PartFigures[]> =>
    measureFolder({
      folder,
      name,
      splits: ['held-out'],
      samplings,
      engine,
      set,
      limit,
      budgets: FULL.budgets,
      seed: Number(values.seed),
      testRuns,
      work,
    });
  try {
    const all = FULL.measured.samplings;
    const limit = Number(values.limit);
    const last = Number(values.steps);
    const before = await measureNow('before', policyFolder, all, limit);
    let after: readonly PartFigures[] = [];
    const curve: { readonly step: number; readonly figures: readonly PartFigures[] }[] = [];
    const steps = await runSpike({
      arm,
      seed: Number(values.seed),
      steps: last,
      tasksPerStep: Number(values.tasks),
      groupSize: Number(values.group),
      rate: Number(values.rate),
      budgets: FULL.budgets,
      model: join(nano, 'calibrated'),
      policyFolder,
      policy,
      tasks: tasksOf(set, 'train'),
      demonstrations: arm === 'supervised' ? await demonstrations(nano, place) : [],
      work,
      testRuns,
      place,
      say,
      onVersion: async (step, folder) => {
        if (step === last) after = await measureNow('after', folder, all, limit);
        if (step % Number(values.every) !== 0) return;
        const greedy = all.filter(({ temperature }) => temperature === 0);
        const name = `step-${step}`;
        const figures = await measureNow(name, folder, greedy, Number(values['curve-limit']));
        curve.push({ step, figures });
      },
    });
    await writeFile(
      join(work, 'report.json'),
      `${JSON.stringify({ ...values, before, after, curve, steps }, undefined, 1)}\n`,
    );
  } finally {
    await policy.close();
    await engine.close();
  }
}

function armOf(name: string): SpikeOptions['arm'] {
  if (name === 'grpo' || name === 'random' || name === 'supervised') return name;
  throw new Error(`--arm ${name}: it must be grpo, random or supervised`);
}

/** What the policy has learnt from, as rows of token ids; made once, by the learner's tokenizer. */
async function demonstrations(nano: string, place: LearnerPlace): Promise<readonly string[]> {
  const rows = join(nano, 'rows.jsonl');
  if (!existsSync(rows)) {
    const conversations = [join(nano, `${FULL.training.phases.at(-1)?.name}.jsonl`)];
    const request = { conversations, tokenizer: join(nano, 'tokenizer'), out: rows };
    await runLearner('encode', request, place);
  }
  return (await readFile(rows, 'utf8')).split('\n').filter((line) => line !== '');
}

await main();
