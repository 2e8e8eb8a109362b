import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { EvaluationSummary } from '../../src/core/evaluation/summary.ts';
import { currentScaffoldHash } from '../../src/core/fix/scaffold.ts';
import { createOnnxEngine } from '../../src/core/policies/onnx/engine.ts';
import { createOnnxPolicy } from '../../src/core/policies/onnx/onnx-policy.ts';
import { createChance } from '../../src/core/tasks/random.ts';
import type { TestRuns } from '../../src/core/tasks/rehearsal/memory-session.ts';
import type { SplitName } from '../../src/core/tasks/split.ts';
import type { TaskSet } from '../../src/core/tasks/task-set.ts';
import { readTokenizer, writeDecisions } from './decisions.ts';
import { measureFolder } from './evaluate.ts';
import { type LearnerPlace, runLearner } from './learner.ts';
import { openRuns, required, say } from './process.ts';
import { FULL } from './settings.ts';
import { runSpike, type SpikeOptions } from './spike.ts';
import { slugOf } from './spike-parts.ts';
import { heldOutOf, type TaskWithTree, tasksOf } from './split.ts';
import { decisionsOfTasks } from './task-decisions.ts';

/**
 * `npm run policy:spike`: what GRPO learns on this machine in so many steps, from the policy that
 * ships, next to a control (`--arm random`, `--arm supervised`). Half of the tasks of one part are
 * practised on; measured are the other half (the same code, other bugs) and the held-out tasks, before
 * the first step and after the last one. docs/learning.md has what came out.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      arm: { type: 'string', default: 'grpo' },
      seed: { type: 'string', default: '1' },
      steps: { type: 'string', default: '12' },
      tasks: { type: 'string', default: '16' },
      group: { type: 'string', default: '16' },
      /**
       * Of an attempt in practice: every choice of one that was solved is reinforced, so the fewer there
       * are, the larger the part that helped. Measured is with as many as everywhere.
       */
      tries: { type: 'string', default: '4' },
      rate: { type: 'string', default: '1e-4' },
      threads: { type: 'string', default: '2' },
      /** `new-family`: code that the policy has not seen; `train`: code that it knows. */
      practice: { type: 'string', default: 'new-family' },
      policy: { type: 'string', default: 'policies/nano' },
      /** Tasks of each part that are measured, greedily and at temperature 1. */
      limit: { type: 'string', default: '93' },
      'sampled-limit': { type: 'string', default: '40' },
      /** Every so many steps those tasks are played greedily, for the curve. */
      every: { type: 'string', default: '4' },
      work: { type: 'string' },
    },
  });
  const arm = armOf(values.arm);
  const shared = required('PRIME_AGENT_WORK');
  const policyFolder = values.policy;
  const work = values.work ?? join(shared, `spike-${arm}-${values.seed}`);
  const place: LearnerPlace = {
    python: required('PRIME_AGENT_LEARNER_PYTHON'),
    source: required('PRIME_AGENT_LEARNER'),
    threads: Number(values.threads),
  };
  // One that was interrupted starts anew: its minutes would not be those of one piece.
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const { testRuns } = await openRuns();
  const tasksFile = join(shared, 'evaluation.jsonl.gz');
  const { set } = await heldOutOf(tasksFile, FULL, existsSync(tasksFile), (tasks) =>
    say(`evaluation: ${tasks} tasks`),
  );
  const { practice, other } = halves(set, partOf(values.practice));
  const parts = [
    { part: 'same code, other bugs', set: other },
    { part: 'held-out', set: heldOutAlone(set) },
  ];
  say(`${practice.length} tasks to practise on`);
  const engine = createOnnxEngine();
  const sampled = await createOnnxPolicy({
    folder: policyFolder,
    scaffoldHash: currentScaffoldHash(),
    sampling: { temperature: 1, topP: 1, topK: -1 },
    engine,
  });
  if (sampled.kind === 'problem') throw new Error(`${sampled.reason} ${sampled.remedy}`);
  const { policy } = sampled;
  const greedy = { temperature: 0, attempts: 1, limit: Number(values.limit) };
  const all = [
    greedy,
    { temperature: 1, attempts: 8, limit: Math.min(greedy.limit, Number(values['sampled-limit'])) },
  ];
  const measureNow = async (
    name: string,
    folder: string,
    samplings: typeof all,
    where: string,
  ): Promise<readonly SpikeFigures[]> => {
    const found: SpikeFigures[] = [];
    for (const { part, set: tasks } of parts) {
      const figures = await measureFolder({
        folder,
        name: `${name}-${slugOf(part)}`,
        splits: ['held-out'],
        samplings,
        engine,
        set: tasks,
        budgets: FULL.budgets,
        // The same for every arm and seed: their figures are compared attempt by attempt.
        seed: FULL.evaluation.seed,
        testRuns,
        work: where,
      });
      found.push(...figures.map(({ temperature, summary }) => ({ part, temperature, summary })));
    }
    return found;
  };
  try {
    const last = Number(values.steps);
    // All arms begin with the same policy: it is measured once.
    const before = await measureNow('spike-before', policyFolder, all, shared);
    let after: readonly SpikeFigures[] = [];
    const curve: { readonly step: number; readonly figures: readonly SpikeFigures[] }[] = [];
    const steps = await runSpike({
      arm,
      seed: Number(values.seed),
      steps: last,
      tasksPerStep: Number(values.tasks),
      groupSize: Number(values.group),
      rate: Number(values.rate),
      budgets: { ...FULL.budgets, tries: Number(values.tries) },
      model: policyFolder,
      policyFolder,
      policy,
      tasks: practice,
      demonstrations:
        arm === 'supervised'
          ? await demonstrations(practice, policyFolder, work, place, testRuns)
          : [],
      work,
      testRuns,
      place,
      say,
      onVersion: async (step, folder) => {
        if (step === last) after = await measureNow('after', folder, all, work);
        else if (step % Number(values.every) === 0) {
          curve.push({ step, figures: await measureNow(`step-${step}`, folder, [greedy], work) });
        }
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

interface SpikeFigures {
  readonly part: string;
  readonly temperature: number;
  readonly summary: EvaluationSummary;
}

function armOf(name: string): SpikeOptions['arm'] {
  if (name === 'grpo' || name === 'random' || name === 'supervised') return name;
  throw new Error(`--arm ${name}: it must be grpo, random or supervised`);
}

function partOf(name: string): SplitName {
  if (name === 'new-family' || name === 'train') return name;
  throw new Error(`--practice ${name}: it must be new-family or train`);
}

/** Tasks with the same bug, but for names, are in the same half. */
function halves(
  set: TaskSet,
  part: SplitName,
): { readonly practice: readonly TaskWithTree[]; readonly other: TaskSet } {
  const practised = ({ task }: TaskSet['entries'][number]): boolean =>
    createChance('practice', task.shapes.bug).chance(0.5);
  const entries = set.entries.filter(({ split }) => split === part);
  const rest = entries.filter((entry) => !practised(entry));
  return {
    practice: tasksOf({ ...set, entries: entries.filter(practised) }, part),
    other: { ...set, entries: rest.map((entry) => ({ ...entry, split: 'held-out' as const })) },
  };
}

function heldOutAlone(set: TaskSet): TaskSet {
  return { ...set, entries: set.entries.filter(({ split }) => split === 'held-out') };
}

/** The right edits of the tasks that are practised on, as rows of token ids. */
async function demonstrations(
  tasks: readonly TaskWithTree[],
  policyFolder: string,
  work: string,
  place: LearnerPlace,
  testRuns: TestRuns,
): Promise<readonly string[]> {
  const conversations = join(work, 'right-edits.jsonl');
  const played = { ...FULL.decisions, renamed: [0] } as const;
  const counts = await writeDecisions(
    decisionsOfTasks(tasks, played, testRuns),
    conversations,
    await readTokenizer(policyFolder),
    { ...FULL.replies, leaveOut: new Set(), mostTokens: FULL.training.tokens_per_pack },
  );
  say(`right edits: ${JSON.stringify(counts)}`);
  const rows = join(work, 'right-edits.rows.jsonl');
  const request = { conversations: [conversations], tokenizer: policyFolder, out: rows };
  await runLearner('encode', request, place);
  return (await readFile(rows, 'utf8')).split('\n').filter((line) => line !== '');
}

await main();
