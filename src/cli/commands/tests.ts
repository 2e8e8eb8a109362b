import { firstLine } from '../../core/fix/not-loadable.ts';
import { NO_TESTS, runAllTests } from '../../core/fix/run-all-tests.ts';
import type { TestResult } from '../../core/frameworks/framework.ts';
import { isFailing } from '../../core/frameworks/status.ts';
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
  const outcome = await runAllTests(job.projects, {
    runs: 1,
    signal: context.signal,
    listener: progress.listener,
  });
  if (outcome.kind === 'cancelled') return reportCancelled(context, options.json);
  if (outcome.kind === 'problem') return reportProblem(outcome, context, options.json);
  for (const { file, message } of outcome.collectionErrors) {
    const text = `${file} could not be loaded: ${firstLine(message)}`;
    progress.listener({ kind: 'warning', text });
  }
  const projects = [...outcome.baselines].flatMap(([{ setup }, made]) =>
    made.kind === 'baseline'
      ? [
          {
            framework: setup.framework.id,
            tests: made.baseline.results.filter((test) => !options.failing || isFailing(test)),
            notLoaded: made.baseline.collectionErrors,
          },
        ]
      : [],
  );
  progress.stop();
  const all = projects.flatMap((project) => project.tests);
  const notLoaded = projects.flatMap((project) => project.notLoaded);
  if (options.json) {
    context.stdout.write(`${JSON.stringify({ projects }, null, 2)}\n`);
    return notLoaded.length > 0 ? EXIT.notSolved : EXIT.ok;
  }
  if (projects.length === 0) {
    return reportProblem(NO_TESTS, context, false);
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
