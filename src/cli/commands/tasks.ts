import { access, constants, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { problem } from '../../core/fix/prepare.ts';
import { type RepositoryReport, tasksFromRepository } from '../../core/tasks/from-repository.ts';
import { generateTasks } from '../../core/tasks/generate/generate-tasks.ts';
import { type OverlapReport, overlapReport, renderOverlap } from '../../core/tasks/overlap.ts';
import { splitTasks } from '../../core/tasks/split.ts';
import type { Task } from '../../core/tasks/task.ts';
import { type TaskEntry, writeTaskSet } from '../../core/tasks/task-set.ts';
import type { FileTree } from '../../core/tasks/tree.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type JobOptions, openJob, reportCancelled, reportProblem } from '../job.ts';
import { createProgress } from '../render/progress.ts';
import { plural } from '../render/style.ts';

export interface TasksBuildOptions extends JobOptions {
  /** Tasks from generated modules. */
  readonly generate?: number;
  readonly out: string;
  readonly seed: number;
  /** Tasks from the repository at most. */
  readonly limit: number;
  readonly maxMinutes: number;
  readonly json: boolean;
}

interface Summary {
  readonly source: string;
  readonly tasks: number;
  readonly candidates: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly repository?: Pick<RepositoryReport, 'files' | 'covered' | 'notCovered' | 'stopped'>;
}

/** Builds a file of tasks from generated modules, from a repository, or from both. */
export async function tasksBuildCommand(
  path: string | undefined,
  options: TasksBuildOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { json, seed } = options;
  if (path === undefined && options.generate === undefined) {
    return reportProblem(
      problem(
        'usage',
        'There is nothing to build tasks from.',
        'Name the folder of a repository, or make modules: --generate 500.',
      ),
      context,
      json,
    );
  }
  const out = resolve(context.cwd, options.out);
  const unwritable = await outputProblem(out);
  if (unwritable) return reportProblem(unwritable, context, json);

  const progress = createProgress(context);
  const tasks: Task[] = [];
  const trees = new Map<string, FileTree>();
  const summaries: Summary[] = [];
  try {
    if (options.generate !== undefined) {
      const { generate: count } = options;
      progress.listener({ kind: 'progress', text: `Making ${plural(count, 'task')} from modules` });
      const built = await generateTasks({
        count,
        seed,
        signal: context.signal,
        onProgress: (done) =>
          progress.listener({ kind: 'progress', text: `${done} of ${count} tasks are checked` }),
      });
      tasks.push(...built.tasks);
      for (const [hash, tree] of built.trees) trees.set(hash, tree);
      summaries.push(summary('generated modules', built.tasks.length, built));
    }
    if (path !== undefined) {
      const job = await openJob(path, options, context, progress.listener);
      if (job.kind === 'problem') return reportProblem(job, context, json);
      for (const project of job.projects) {
        progress.listener({ kind: 'progress', text: `Running the tests: ${project.detail}` });
        let shown = -1;
        const outcome = await tasksFromRepository({
          project,
          seed,
          limit: options.limit,
          maxMs: options.maxMinutes * 60_000,
          signal: context.signal,
          onProgress: ({ kept, tried }) => {
            if (kept === shown && tried % 20 !== 0) return;
            shown = kept;
            progress.listener({
              kind: 'progress',
              text: `${plural(kept, 'task')} of ${tried} bugs tried`,
            });
          },
        });
        switch (outcome.kind) {
          case 'cancelled':
            return reportCancelled(context, json);
          case 'environment':
            return reportProblem(
              problem('environment', outcome.reason, outcome.remedy),
              context,
              json,
            );
          case 'no-tests':
            return reportProblem(
              problem(
                'no-tests',
                `${project.detail}: ${outcome.reason}.`,
                'Name the folder that holds the tests.',
              ),
              context,
              json,
            );
          case 'none-pass':
            return reportProblem(
              problem('usage', outcome.reason, 'Name a repository whose tests pass.'),
              context,
              json,
            );
          case 'built': {
            tasks.push(...outcome.tasks);
            for (const [hash, tree] of outcome.trees) trees.set(hash, tree);
            const { files, covered, notCovered, stopped } = outcome.report;
            summaries.push({
              ...summary(project.detail, outcome.tasks.length, outcome.report),
              repository: { files, covered, notCovered, stopped },
            });
          }
        }
      }
    }
  } catch (error) {
    if (context.signal.aborted) return reportCancelled(context, json);
    throw error;
  } finally {
    progress.stop();
  }

  // The tasks of one repository alone have no families to be split by.
  const generated = tasks.filter((task) => task.source.kind === 'generated');
  const split = splitTasks(generated, { seed });
  const entries = tasks.map((task): TaskEntry => {
    const part = split.parts.get(task.id);
    return { task, ...(part === undefined ? {} : { split: part }) };
  });
  if (tasks.length > 0) await writeTaskSet(out, { entries, trees });
  const overlap = generated.length > 0 ? overlapReport(generated, trees, split) : undefined;
  if (overlap) await writeOverlap(out, overlap);

  report({ out, tasks: tasks.length, summaries, overlap }, context, json);
  return tasks.length > 0 ? EXIT.ok : EXIT.notSolved;
}

function summary(
  source: string,
  tasks: number,
  { candidates, dropped }: { candidates: number; dropped: ReadonlyMap<string, number> },
): Summary {
  return { source, tasks, candidates, dropped: Object.fromEntries(dropped) };
}

async function writeOverlap(out: string, overlap: OverlapReport): Promise<void> {
  const base = out.replace(/\.gz$/, '').replace(/\.jsonl$/, '');
  await writeFile(`${base}.overlap.json`, `${JSON.stringify(overlap, null, 2)}\n`);
  await writeFile(`${base}.overlap.md`, renderOverlap(overlap));
}

/** Better said before the work than after it. */
async function outputProblem(out: string) {
  try {
    await mkdir(dirname(out), { recursive: true });
    await access(dirname(out), constants.W_OK);
    const info = await stat(out).catch(() => undefined);
    if (!info?.isDirectory()) return undefined;
    return problem(
      'usage',
      `${out} is a folder.`,
      'Name a file for the tasks: --out tasks.jsonl.gz',
    );
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return problem(
      'usage',
      `The tasks cannot be written to ${out}: ${why}.`,
      'Name a file in a folder that can be written to: --out tasks.jsonl.gz',
    );
  }
}

function report(
  result: {
    readonly out: string;
    readonly tasks: number;
    readonly summaries: readonly Summary[];
    readonly overlap: OverlapReport | undefined;
  },
  context: CliContext,
  json: boolean,
): void {
  const { out, tasks, summaries, overlap } = result;
  if (json) {
    const document = {
      outcome: tasks > 0 ? 'built' : 'none',
      out,
      tasks,
      sources: summaries,
      overlap,
    };
    context.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  }
  const say = (text: string): void => {
    (json ? context.stderr : context.stdout).write(`${text}\n`);
  };
  for (const { source, tasks: kept, candidates, dropped, repository } of summaries) {
    say(`${source}: ${plural(kept, 'task')} of ${plural(candidates, 'candidate')}`);
    for (const [reason, count] of Object.entries(dropped)) say(`  ${count} dropped: ${reason}`);
    if (repository === undefined) continue;
    const { files, covered, notCovered, stopped } = repository;
    say(`  ${plural(files, 'source file')}, ${covered} of those looked at are loaded by a test`);
    for (const path of notCovered.slice(0, 10)) say(`  no test loads ${path}`);
    say(
      `  stopped: ${stopped === 'limit' ? 'as many tasks as wanted' : stopped === 'time' ? 'out of time' : stopped}`,
    );
  }
  if (overlap) {
    const { counts, shared } = overlap;
    say(
      `train ${counts.train}, held out ${counts['held-out']}, only the family new ${counts['new-family']}, only the operator new ${counts['new-operator']}`,
    );
    say(
      `in common: ${shared.families} families, ${shared.operators} operators, ${shared.shapes} normalised trees`,
    );
  }
  say(
    tasks > 0
      ? `${plural(tasks, 'task')} in ${out}`
      : 'No task was found, so nothing was written. Try --limit, --max-minutes, or a repository with more tests.',
  );
}
