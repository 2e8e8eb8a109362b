import { firstLine } from '../../core/fix/not-loadable.ts';
import { problem } from '../../core/fix/prepare.ts';
import type { TestResult } from '../../core/frameworks/framework.ts';
import { isFailing } from '../../core/frameworks/status.ts';
import { makeBaseline } from '../../core/grading/baseline.ts';
import type { Baseline } from '../../core/grading/types.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type JobOptions, openJob, reportCancelled, reportProblem } from '../job.ts';
import { createProgress } from '../render/progress.ts';
import { createStyle, plural, type Style } from '../render/style.ts';

export interface TestsCommandOptions extends JobOptions {
  readonly failing: boolean;
  readonly json: boolean;
}

export async function testsCommand(
  path: string,
  options: TestsCommandOptions,
  context: CliContext,
): Promise<ExitCode> {
  const progress = createProgress(context);
  const job = await openJob(path, options, context, progress.listener);
  if (job.kind === 'problem') return reportProblem(job, context, options.json);

  const style = createStyle(context.stdout, context.env);
  const projects: {
    framework: string;
    tests: readonly TestResult[];
    notLoaded: Baseline['collectionErrors'];
  }[] = [];
  for (const { setup, detail } of job.projects) {
    progress.listener({ kind: 'progress', text: `Running the tests: ${detail}` });
    const outcome = await makeBaseline(setup, { signal: context.signal, runs: 1 });
    if (outcome.kind === 'cancelled') return reportCancelled(context, options.json);
    if (outcome.kind === 'environment') {
      return reportProblem(
        problem('environment', outcome.reason, outcome.remedy),
        context,
        options.json,
      );
    }
    if (outcome.kind === 'no-tests') continue;
    for (const { file, message } of outcome.baseline.collectionErrors) {
      progress.listener({
        kind: 'warning',
        text: `${file} could not be loaded: ${firstLine(message)}`,
      });
    }
    const tests = outcome.baseline.results.filter((test) => !options.failing || isFailing(test));
    projects.push({
      framework: setup.framework.id,
      tests,
      notLoaded: outcome.baseline.collectionErrors,
    });
  }
  progress.stop();
  const all = projects.flatMap((project) => project.tests);
  const notLoaded = projects.flatMap((project) => project.notLoaded);
  if (options.json) {
    context.stdout.write(`${JSON.stringify({ projects }, null, 2)}\n`);
    return notLoaded.length > 0 ? EXIT.notSolved : EXIT.ok;
  }
  if (projects.length === 0) {
    return reportProblem(
      problem(
        'no-tests',
        'The test run found no tests.',
        'Name the folder that holds them, or pass the command: --command "…".',
      ),
      context,
      false,
    );
  }
  for (const test of all) context.stdout.write(`${mark(test, style)} ${style.visible(test.id)}\n`);
  const failed = all.filter(isFailing).length;
  context.stderr.write(`${plural(all.length, 'test')}, ${failed} failing.\n`);
  if (notLoaded.length === 0) return EXIT.ok;
  context.stderr.write(`${plural(notLoaded.length, 'test file')} could not be loaded.\n`);
  return EXIT.notSolved;
}

function mark(test: TestResult, style: Style): string {
  if (test.status === 'passed') return style.green('pass');
  if (isFailing(test)) return style.red('FAIL');
  return style.dim(test.status);
}
