import { access, constants, mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { type Comparison, compare } from '../../core/evaluation/compare.ts';
import {
  chooseTasks,
  type EvaluationTask,
  evaluate,
  MOST_ATTEMPTS,
} from '../../core/evaluation/evaluate.ts';
import {
  evaluationHeader,
  openResults,
  ResultsFileError,
  readResults,
  taskSetHash,
} from '../../core/evaluation/results-file.ts';
import { createSandboxRunner } from '../../core/evaluation/sandbox-runner.ts';
import { type EvaluationSummary, summarise } from '../../core/evaluation/summary.ts';
import { defaultBudgets } from '../../core/fix/budgets.ts';
import { cleanUp } from '../../core/fix/clean-up.ts';
import { type PrepareProblem, problem } from '../../core/fix/prepare.ts';
import { currentScaffoldHash } from '../../core/fix/scaffold.ts';
import { AGENT_VERSION } from '../../core/fix/version.ts';
import { stateFolder } from '../../core/platform/state-folder.ts';
import { createPolicy } from '../../core/policies/create-policy.ts';
import { ONE_BY_ONE } from '../../core/policies/edit-search/edit-search.ts';
import type { PolicyDescription } from '../../core/policies/policy.ts';
import { chooseSandbox, type SandboxChoice } from '../../core/sandbox/providers.ts';
import { readTaskSet, type TaskEntry, TaskFileError } from '../../core/tasks/task-set.ts';
import type { Budgets } from '../../core/trajectories/schema.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { reportProblem } from '../job.ts';
import { renderComparison, renderProgress, renderSummary } from '../render/evaluation.ts';
import { createStyle, plural } from '../render/style.ts';
import { fitLine } from '../render/terminal-text.ts';

export const EVAL_SPLITS = ['held-out', 'train', 'new-family', 'new-operator', 'all'] as const;

export interface EvalOptions {
  readonly policy?: string;
  readonly model?: string;
  readonly temperature?: number;
  readonly tasks?: string;
  /** Default: `held-out` if the set is split. */
  readonly split?: (typeof EVAL_SPLITS)[number];
  readonly attempts: number;
  readonly limit?: number;
  readonly seed: number;
  /** Default: by the machine's cores. */
  readonly parallel?: number;
  readonly maxTries?: number;
  readonly maxTurns?: number;
  readonly maxMinutes?: number;
  readonly maxReplyTokens?: number;
  readonly sandbox: SandboxChoice;
  readonly dockerImage?: string;
  /** Seconds. */
  readonly testTimeout: number;
  readonly out?: string;
  readonly compare: boolean;
  readonly json: boolean;
}

/** `eval`: runs a policy on a file of tasks, or compares two files of results. */
export async function evalCommand(
  files: readonly string[],
  options: EvalOptions,
  context: CliContext,
): Promise<ExitCode> {
  try {
    const trouble = options.compare
      ? await compareFiles(files, options, context)
      : await runEvaluation(files, options, context);
    return typeof trouble === 'object' ? reportProblem(trouble, context, options.json) : trouble;
  } catch (error) {
    if (error instanceof ResultsFileError || error instanceof TaskFileError) {
      return reportProblem(fileProblem(error.message), context, options.json);
    }
    throw error;
  }
}

/** These errors end with what to do, as their last sentence. */
function fileProblem(message: string): PrepareProblem {
  const [, reason = message, remedy = ''] = /^(.*?[.)]) ([^.]*\.)$/s.exec(message) ?? [];
  return problem('usage', reason, remedy);
}

async function compareFiles(
  files: readonly string[],
  { json }: EvalOptions,
  context: CliContext,
): Promise<ExitCode | PrepareProblem> {
  const [first, second] = files;
  if (first === undefined || second === undefined || files.length > 2) {
    return problem(
      'usage',
      '--compare needs two files of results.',
      'Name them: prime-agent eval --compare A.jsonl B.jsonl',
    );
  }
  const [a, b] = await Promise.all([
    readResults(resolve(context.cwd, first)),
    readResults(resolve(context.cwd, second)),
  ]);
  const comparison: Comparison = compare(a, b);
  context.stdout.write(
    json
      ? `${JSON.stringify({ outcome: 'compared', ...comparison }, null, 2)}\n`
      : renderComparison(comparison, createStyle(context.stdout, context.env)),
  );
  return comparison.tasks > 0 ? EXIT.ok : EXIT.usage;
}

async function runEvaluation(
  files: readonly string[],
  options: EvalOptions,
  context: CliContext,
): Promise<ExitCode | PrepareProblem> {
  const { policy: wanted, tasks: taskFile, attempts, seed } = options;
  if (files.length > 0) {
    return problem(
      'usage',
      `${files.join(' ')} is not expected here.`,
      'Name the tasks with --tasks FILE, or compare two files of results with --compare A B.',
    );
  }
  if (wanted === undefined || taskFile === undefined) {
    return problem(
      'usage',
      `${wanted === undefined ? '--policy' : '--tasks'} is missing.`,
      'For example: prime-agent eval --policy edit-search --tasks tasks.jsonl.gz',
    );
  }
  if (attempts > MOST_ATTEMPTS) {
    return problem(
      'usage',
      `${attempts} attempts per task are too many.`,
      `Up to ${MOST_ATTEMPTS}.`,
    );
  }
  const set = await readTaskSet(resolve(context.cwd, taskFile));
  const chosen = chooseSplit(set.entries, options.split);
  if ('kind' in chosen) return chosen;
  const entries = chooseTasks(chosen.entries, options.limit ?? chosen.entries.length, seed);
  const tasks = entries.flatMap(({ task }): readonly EvaluationTask[] => {
    const tree = set.trees.get(task.tree);
    return tree === undefined ? [] : [{ task, tree }];
  });

  const created = await createPolicy(
    {
      policy: wanted,
      model: options.model,
      temperature: options.temperature,
      oneByOne: true,
    },
    {
      env: context.env,
      signal: context.signal,
      onNotice: (text) => void context.stderr.write(`prime-agent: ${text}\n`),
    },
  );
  if (created.kind === 'problem') return problem(created.cause, created.reason, created.remedy);
  const { policy } = created;
  const stateDir = stateFolder(context.env);
  const sandbox = await chooseSandbox(options.sandbox, {
    stateDir,
    dockerImage: options.dockerImage,
    environment: context.env,
  });
  if (sandbox.kind === 'unavailable') {
    return problem('environment', sandbox.reason, sandbox.remedy);
  }
  await cleanUp(stateDir);

  const out = resolve(context.cwd, options.out ?? defaultName(policy.description));
  const unwritable = await outputProblem(out);
  if (unwritable) return unwritable;
  const budgets = { ...budgetsOf(policy.description), ...budgetsFrom(options) };
  const rules = 'strict';
  const header = evaluationHeader({
    agentVersion: AGENT_VERSION,
    policy: policy.description,
    scaffoldHash: currentScaffoldHash(),
    tasks: {
      hash: taskSetHash(tasks.map(({ task }) => task.id)),
      count: tasks.length,
      split: chosen.split,
    },
    settings: { attempts, seed, rules, budgets, sandbox: sandbox.provider.kind },
  });
  const results = await openResults(out, header);
  const parallel = options.parallel ?? Math.max(1, Math.min(4, availableParallelism()));
  const progress = createProgressLine(context);
  const runner = createSandboxRunner({
    provider: sandbox.provider,
    testTimeoutMs: options.testTimeout * 1000,
    environment: context.env,
    idle: parallel,
  });
  try {
    if (results.done.length > 0) {
      progress.say(`Going on with ${out}, which has ${plural(results.done.length, 'attempt')}.`);
    }
    const outcome = await evaluate({
      tasks,
      policy,
      attempts,
      parallel,
      seed,
      budgets,
      rules,
      runner: runner.run,
      signal: context.signal,
      done: results.done,
      onRecord: (record) => results.append(record),
      onProgress: (state) => progress.show(renderProgress(state)),
    });
    progress.stop();
    const summary = summarise({ header, records: outcome.records });
    report(summary, outcome.kind, out, options.json, context);
    if (outcome.kind === 'cancelled') {
      context.stderr.write(`prime-agent: interrupted. The same command goes on with ${out}.\n`);
      return EXIT.interrupted;
    }
    if (outcome.kind === 'broken') {
      context.stderr.write(
        `prime-agent: stopped, since attempts at several tasks in a row could not be made: ${outcome.reason}\n${outcome.remedy ?? ''}\nThen run the same command again: it goes on with ${out}.\n`,
      );
      return EXIT.environment;
    }
    return EXIT.ok;
  } finally {
    progress.stop();
    await Promise.allSettled([runner.close(), results.close()]);
  }
}

function chooseSplit(
  entries: readonly TaskEntry[],
  split: EvalOptions['split'],
): { readonly split: string; readonly entries: readonly TaskEntry[] } | PrepareProblem {
  const isSplit = entries.some((entry) => entry.split !== undefined);
  const name = split ?? (isSplit ? 'held-out' : 'all');
  const chosen = name === 'all' ? entries : entries.filter((entry) => entry.split === name);
  if (chosen.length > 0) return { split: name, entries: chosen };
  const counts = EVAL_SPLITS.slice(0, -1)
    .map((part) => `${part} ${entries.filter((entry) => entry.split === part).length}`)
    .join(', ');
  return problem(
    'usage',
    `No task of the file is in ${name} (${counts}, all ${entries.length}).`,
    'Choose another part with --split, or build more tasks: prime-agent tasks build --generate 400',
  );
}

/** A slow or busy machine must not decide what is solved: `edit-search` gets time for all its turns. */
function budgetsOf(policy: PolicyDescription): Budgets {
  const budgets = defaultBudgets(policy);
  if (policy.kind !== 'edit-search') return budgets;
  return { ...budgets, turns: ONE_BY_ONE.turns, timeMs: EDIT_SEARCH_MS };
}

const EDIT_SEARCH_MS = 15 * 60_000;

function budgetsFrom(options: EvalOptions): Partial<Budgets> {
  const { maxTries, maxTurns, maxMinutes, maxReplyTokens } = options;
  return {
    ...(maxTries === undefined ? {} : { tries: maxTries }),
    ...(maxTurns === undefined ? {} : { turns: maxTurns }),
    ...(maxMinutes === undefined ? {} : { timeMs: Math.round(maxMinutes * 60_000) }),
    ...(maxReplyTokens === undefined ? {} : { replyTokens: maxReplyTokens }),
  };
}

function defaultName({ model }: PolicyDescription): string {
  const slug = model
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  return `eval-${slug || 'policy'}.jsonl`;
}

/** Better said before the work than after it. */
async function outputProblem(out: string): Promise<PrepareProblem | undefined> {
  try {
    await mkdir(dirname(out), { recursive: true });
    await access(dirname(out), constants.W_OK);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return problem(
      'usage',
      `The results cannot be written to ${out}: ${why}.`,
      'Name a file in a folder that can be written to: --out results.jsonl',
    );
  }
}

function report(
  summary: EvaluationSummary,
  kind: 'done' | 'cancelled' | 'broken',
  out: string,
  json: boolean,
  context: CliContext,
): void {
  if (json) {
    const outcome = kind === 'done' ? 'evaluated' : kind;
    context.stdout.write(`${JSON.stringify({ outcome, out, ...summary }, null, 2)}\n`);
    return;
  }
  context.stdout.write(renderSummary(summary, createStyle(context.stdout, context.env)));
  context.stderr.write(`Results: ${out}\n`);
}

/** One live line on a terminal; elsewhere a line now and then. */
function createProgressLine({ stderr, env }: CliContext) {
  const style = createStyle(stderr, env);
  let last = 0;
  return {
    say: (text: string): void => void stderr.write(`${text}\n`),
    show(text: string): void {
      if (stderr.isTTY) {
        stderr.write(`\r\x1b[K${style.dim(fitLine(text, (stderr.columns || 80) - 1))}`);
        return;
      }
      if (Date.now() - last < QUIET_MS) return;
      last = Date.now();
      stderr.write(`${text}\n`);
    },
    stop(): void {
      if (stderr.isTTY) stderr.write('\r\x1b[K');
    },
  };
}

const QUIET_MS = 30_000;
