import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { currentScaffoldHash } from '../../src/core/fix/scaffold.ts';
import { writePolicyManifest } from '../../src/core/policies/onnx/policy-folder.ts';
import type { RehearsalRuns } from '../../src/core/tasks/rehearsal/test-runs.ts';
import { readTaskSet } from '../../src/core/tasks/task-set.ts';
import { codeChunks } from './code-chunks.ts';
import { decisionsOfRepairs, type RowOptions, readTokenizer, writeDecisions } from './decisions.ts';
import { estimateText } from './estimate-text.ts';
import { measureEditSearch, measureFolder } from './evaluate.ts';
import { type LearnerEvent, type LearnerPlace, runLearner, runModule } from './learner.ts';
import { mineFiles } from './mined.ts';
import { evaluatedPackages, packageCode } from './package-code.ts';
import { measurePinned } from './pinned.ts';
import { openRuns, required, say } from './process.ts';
import { makeRepairs } from './repairs.ts';
import { FULL, type NanoSettings, type Phase, SMOKE } from './settings.ts';
import { makeShard, tasksIn, trainingTasks } from './shard.ts';
import { type HeldOut, heldOutOf, tasksOf } from './split.ts';
import { decisionsOfTasks } from './task-decisions.ts';

/** Fifty held-out tasks that `npm test` plays, too; from the repository's root. */
const PINNED_TASKS = 'policies/pinned-tasks.jsonl.gz';

/** Real code to train on; pinned by the lock file. */
const PACKAGES = 'node_modules';

/** Tasks of packages that are measured with, from the repository's root. */
const PACKAGE_TASKS = 'policies/packages';

/** Files of demonstrations are hardly ever larger. */
const LARGEST_FILE_TOKENS = 800;

/**
 * `npm run policy:nano`: makes the embedded policy from nothing. Each stage is done once and kept
 * in the work folder; the same command goes on where it was interrupted.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      smoke: { type: 'boolean', default: false },
      work: { type: 'string' },
      out: { type: 'string' },
      threads: { type: 'string', default: '2' },
      /** Stop behind this stage: demonstrations, choices, training. */
      until: { type: 'string' },
      /** Make nothing: measure the policy of this folder as the recipe does, and write its record. */
      measure: { type: 'string' },
      /** With it: measure on these files of tasks instead (docs/nano-packages.md), and tell what came out. */
      tasks: { type: 'string', multiple: true },
    },
  });
  const settings = values.smoke ? SMOKE : FULL;
  const place: LearnerPlace = {
    python: required('PRIME_AGENT_LEARNER_PYTHON'),
    source: required('PRIME_AGENT_LEARNER'),
    threads: Number(values.threads),
  };
  const work = values.work ?? required('PRIME_AGENT_WORK');
  const out = values.out ?? join(work, 'nano');
  await mkdir(work, { recursive: true });
  if (!values.measure) await checkStamp(work, settings);

  if (values.measure && values.tasks) {
    await tellFigures(values.measure, values.tasks, settings, work);
    return;
  }
  const tasksFile = join(work, 'evaluation.jsonl.gz');
  const heldOut = await heldOutOf(tasksFile, settings, existsSync(tasksFile), (tasks) =>
    say(`evaluation: ${tasks} tasks`),
  );
  const rehearsalRuns = await openRuns();
  if (values.measure) return writeRecord(values.measure, settings, heldOut, rehearsalRuns, work);
  const shards: string[] = [];
  const known = new Set<string>();
  for (let index = 0; index < settings.demonstrations.shards; index += 1) {
    const file = join(work, `shard-${index}.jsonl`);
    shards.push(file);
    if (existsSync(file)) {
      for (const id of await tasksIn(file)) known.add(id);
      continue;
    }
    const { testRuns } = rehearsalRuns;
    const counts = await makeShard(file, index, settings, heldOut, testRuns, known, say);
    await writeFile(`${file}.counts.json`, `${JSON.stringify(counts)}\n`);
    say(`shard ${index}: ${counts.demonstrations} demonstrations of ${counts.tasks} tasks`);
  }
  const measured = await evaluatedPackages(PACKAGE_TASKS);
  const repairs = join(work, 'repairs.jsonl');
  if (!existsSync(repairs)) {
    const chunks = await codeChunks(packageCode(PACKAGES, measured), settings.repairs.chunks);
    const made = await makeRepairs(shards, chunks, repairs, settings.repairs, heldOut.operators);
    say(`repairs: ${made} of ${chunks.length} pieces of code`);
  }
  if (values.until === 'demonstrations') return;

  const tokenizer = join(work, 'tokenizer');
  if (!isWhole(tokenizer)) {
    await runLearner(
      'train-tokenizer',
      {
        conversations: shards,
        entries: settings.vocabulary,
        context: settings.shape.context,
        out: tokenizer,
      },
      place,
    );
  }
  let start: Readonly<Record<string, unknown>> = {
    kind: 'new',
    shape: settings.shape,
    seed: settings.training.seed,
  };
  let model = '';
  for (const [index, phase] of settings.training.phases.entries()) {
    const folder = join(work, phase.name);
    const conversations = [...shards.slice(0, phase.shards), ...(phase.repairs ? [repairs] : [])];
    const choices = join(work, `${phase.name}.jsonl`);
    if (phase.learn === 'choices' && !existsSync(choices)) {
      const { tasks: count, seed, mined } = settings.decisions;
      const onProgress = (tasks: number) => say(`choices: ${tasks} tasks`);
      const from = { seed, settings, heldOut, known, onProgress };
      const templates = await mineFiles(packageCode(PACKAGES, measured), mined.functions);
      say(`choices: ${templates.length} functions of real code`);
      const tasks = [
        ...(await trainingTasks({ ...from, count })),
        ...(await trainingTasks({ ...from, count: mined.tasks, templates })),
      ];
      const { testRuns } = rehearsalRuns;
      const decisions = async function* () {
        yield* decisionsOfTasks(tasks, settings.decisions, testRuns);
        if (phase.repairs) yield* decisionsOfRepairs(repairs);
      };
      const options = rowOptions(settings, heldOut);
      const counts = await writeDecisions(
        decisions(),
        choices,
        await readTokenizer(tokenizer),
        options,
      );
      say(`choices: ${JSON.stringify(counts)}`);
    }
    if (phase.learn === 'choices' && values.until === 'choices') return;
    const paths = phase.learn === 'choices' ? [choices] : conversations;
    await train(folder, settings, phase, paths, place, { index, start, tokenizer });
    model = join(folder, 'model');
    start = { kind: 'model', folder: model };
  }
  model = await calibrated(model, tokenizer, settings, heldOut, rehearsalRuns, place, work);
  if (values.until === 'training') return;

  await makeFolder(model, out, settings, place);
  await writeRecord(out, settings, heldOut, rehearsalRuns, work);
}

/** Measures a policy and edit-search on all tasks of some files: one greedy attempt, and eight. */
async function tellFigures(
  folder: string,
  files: readonly string[],
  { budgets, evaluation }: NanoSettings,
  work: string,
): Promise<void> {
  const { testRuns } = await openRuns();
  for (const file of files) {
    const name = basename(file).replace(/\..*$/, '');
    const samplings = [
      { temperature: 0, attempts: 1 },
      { temperature: 1, attempts: 8 },
    ];
    const set = await readTaskSet(file);
    const parts = { set, samplings, budgets, testRuns, work, seed: evaluation.seed };
    const all = { ...parts, splits: ['all'] } as const;
    const measured = [
      ['edit-search', await measureEditSearch({ ...all, name: `${name}-edit-search` })],
      ['nano', await measureFolder({ ...all, folder, name: `${name}-nano` })],
    ] as const;
    for (const [policy, figures] of measured) {
      for (const { temperature, summary } of figures) {
        const passed = summary.passAt.map((one) => `pass@${one.k} ${estimateText(one)}`);
        say(`${name}, ${policy}, temperature ${temperature}: ${passed.join(', ')}`);
      }
    }
  }
}

/** Measures a policy and edit-search, and leaves in its folder what came out and how it was made. */
async function writeRecord(
  out: string,
  settings: NanoSettings,
  heldOut: HeldOut,
  { testRuns }: RehearsalRuns,
  work: string,
): Promise<void> {
  const { splits, samplings, limit } = settings.measured;
  const parts = {
    splits,
    samplings,
    set: heldOut.set,
    limit,
    budgets: settings.budgets,
    seed: settings.evaluation.seed,
    testRuns,
    work,
  };
  const figures = await measureFolder({ ...parts, folder: out, name: 'results' });
  const editSearch = await measureEditSearch({ ...parts, name: 'edit-search' });
  const { pinned } = await measurePinned(out, PINNED_TASKS, {
    budgets: settings.budgets,
    testRuns,
    work,
  });
  const record = {
    madeBy: 'npm run policy:nano',
    settings,
    heldOut: namesOf(heldOut),
    figures,
    editSearch,
    pinned,
  };
  await writeFile(join(out, 'record.json'), `${JSON.stringify(record, undefined, 2)}\n`);
  say(`the policy is in ${out}`);
}

/**
 * The model with its logits weighed against the sets, on tasks that it has not learnt from: those of new
 * families, which evaluations call `new-family`; held-out tasks stay unseen.
 */
async function calibrated(
  model: string,
  tokenizer: string,
  settings: NanoSettings,
  heldOut: HeldOut,
  { testRuns }: RehearsalRuns,
  place: LearnerPlace,
  work: string,
): Promise<string> {
  const out = join(work, 'calibrated');
  if (isWhole(out)) return out;
  const tasks = tasksOf(heldOut.set, 'new-family');
  const played = { ...settings.decisions, perTask: 1, renamed: [0] } as const;
  const decisions = decisionsOfTasks(tasks.slice(0, played.tasks), played, testRuns);
  const file = join(work, 'calibration.jsonl');
  const options = rowOptions(settings, heldOut);
  const counts = await writeDecisions(decisions, file, await readTokenizer(tokenizer), options);
  say(`calibration: ${JSON.stringify(counts)}`);
  const { tokens_per_pack } = settings.training;
  const data = { kind: 'conversations', paths: [file] };
  const done = await runLearner('calibrate', { model, data, tokens_per_pack, out }, place);
  await writeFile(join(work, 'calibration.json'), `${JSON.stringify(done)}\n`);
  say(`calibration: logits times ${Number(done.factor).toFixed(3)}`);
  return out;
}

/** The sets of choices that training and calibration read. */
function rowOptions({ replies, training }: NanoSettings, { operators }: HeldOut): RowOptions {
  return { ...replies, leaveOut: operators, mostTokens: training.tokens_per_pack };
}

async function train(
  folder: string,
  settings: NanoSettings,
  phase: Phase,
  paths: readonly string[],
  place: LearnerPlace,
  from: {
    readonly index: number;
    readonly start: Readonly<Record<string, unknown>>;
    readonly tokenizer: string;
  },
): Promise<void> {
  const out = join(folder, 'model');
  if (isWhole(out)) return;
  await mkdir(folder, { recursive: true });
  const { seed, tokens_per_pack, matrices } = settings.training;
  const request = {
    data: {
      kind: 'conversations',
      paths,
      learn: phase.learn === 'everything' ? 'everything' : 'assistant',
    },
    tokenizer: from.tokenizer,
    start: from.start,
    training: {
      steps: phase.steps,
      rows_per_step: phase.rows_per_step,
      tokens_per_pack,
      optimizer: { matrices },
      // Another order of the rows in each phase.
      seed: seed + from.index,
      schedule: { shape: phase.schedule, peak: phase.peak, warmup_steps: phase.warmup_steps },
      checkpoint_every: 100,
    },
    // A thread in each of so many processes is faster than so many threads in one.
    threads: 1,
    processes: place.threads,
    run: join(folder, 'run'),
    out,
  };
  const done = await runLearner('warm-start', request, place, (event) => report(event, phase.name));
  await writeFile(join(folder, 'done.json'), `${JSON.stringify(done)}\n`);
}

function report(event: LearnerEvent, phase: string): void {
  if (event.event === 'note') say(`${phase}: ${String(event.text)}`);
  if (event.event !== 'step' || Number(event.step) % 20 !== 0) return;
  const loss = Number(event.loss).toFixed(4);
  const speed = Math.round(Number(event.tokens_per_second));
  say(`${phase}: step ${String(event.step)}, loss ${loss}, ${speed} tokens/s`);
}

/** The folder that ships, without figures of an evaluation. */
async function makeFolder(
  model: string,
  out: string,
  settings: NanoSettings,
  place: LearnerPlace,
): Promise<void> {
  await rm(out, { recursive: true, force: true });
  await cp(model, out, { recursive: true });
  await rm(join(out, 'COMPLETE'));
  await runModule('prime_learner.decode_graph', [out], place);
  await writePolicyManifest(out, {
    format: 1,
    name: 'nano',
    version: 'policy-v1',
    scaffoldHash: currentScaffoldHash(),
    contextTokens: settings.budgets.contextTokens,
    systemMessage: 'omitted',
    sampling: { temperature: 1, topP: 1, topK: -1 },
    replies: { from: 'known-edits', ...settings.replies },
    handles: { extensions: ['.js', '.mjs', '.cjs'], largestFileTokens: LARGEST_FILE_TOKENS },
  });
}

function namesOf({ families, operators }: HeldOut) {
  return { families: [...families].sort(), operators: [...operators].sort() };
}

/** A work folder belongs to one set of settings and one scaffold. */
async function checkStamp(work: string, settings: NanoSettings): Promise<void> {
  const stamp = createHash('sha256')
    .update(JSON.stringify([settings, currentScaffoldHash()]))
    .digest('hex');
  const file = join(work, 'settings.sha256');
  const before = existsSync(file) ? await readFile(file, 'utf8') : stamp;
  if (before !== stamp) {
    throw new Error(
      `${work} was made with other settings or another scaffold: name another folder with --work, or remove it.`,
    );
  }
  await writeFile(file, stamp);
}

function isWhole(folder: string): boolean {
  return existsSync(join(folder, 'COMPLETE'));
}

await main();
