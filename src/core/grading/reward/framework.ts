import { createHash } from 'node:crypto';
import { z } from 'zod';
import { createCommandFramework } from '../../frameworks/command/command.ts';
import type { Framework, ParsedReport, RawRun, TestResult } from '../../frameworks/framework.ts';
import { readJsonLines } from '../../frameworks/json-lines.ts';
import { findNode } from '../../frameworks/node-test/toolchain.ts';
import { TOOLBOX, WORKSPACE } from '../../sandbox/sandbox.ts';
import runner from './runner.asset.mjs';
import type { RewardSpec } from './spec.ts';

/**
 * A custom reward as a framework with one test: 1 is passed, 0 is failed. So it is graded by the
 * same code as everything else: on a fresh layer, with what decides it reverted, twice when its
 * sandbox breaks.
 *
 * @param moduleText source of the module, of the unchanged workspace; a patch cannot change it
 */
export function createRewardFramework(spec: RewardSpec, moduleText = ''): Framework {
  const base = createCommandFramework(spec.kind === 'command' ? spec.command : spec.path);
  const id = rewardTestId(spec, moduleText);
  const decides = decidingFiles(spec);
  const steering: Framework['steering'] = {
    ...base.steering,
    isSteeringFile: (path) => decides(path) || base.steering.isSteeringFile(path),
  };
  if (spec.kind === 'command') {
    const parse = (report: Uint8Array, run: RawRun): ParsedReport => {
      const parsed = base.parse(report, run);
      const results = parsed.results.map((result): TestResult => {
        if (run.exitCode !== undefined) return { ...result, id };
        const message = 'the command had not ended when the time was up';
        return { ...result, id, failure: { message, details: `${message}\n${run.log}` } };
      });
      return { ...parsed, results };
    };
    return { ...base, label: 'custom reward (command)', timeoutIsResult: true, parse, steering };
  }
  return {
    ...base,
    label: 'custom reward (module)',
    timeoutIsResult: true,
    programs: ['node'],
    toolchain: (workspace) => findNode(workspace),
    toolbox: { 'reward/runner.mjs': runner, 'reward/module.mjs': moduleText },
    command: ({ program, reportFd }) => ({
      argv: [
        ...['bash', '-c', launch(reportFd), 'reward'],
        ...[program, `${TOOLBOX}/reward/runner.mjs`, `${TOOLBOX}/reward/module.mjs`],
      ],
      env: {},
      cwd: WORKSPACE,
    }),
    parse: (report, run) => parseReward(report, run, id, spec.path),
    steering,
  };
}

/** The key stands in the report before anything else runs, and nobody can read the report. */
function launch(reportFd: number): string {
  return `key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')
printf '{"type":"key","key":"%s"}\\n' "$key" >&${reportFd}
exec "$@" 3>&${reportFd} ${reportFd}>&- 4<<<"$key"`;
}

/** Names the reward as it is: tasks with another one are other tasks. */
export function rewardTestId(spec: RewardSpec, moduleText = ''): string {
  const { timeoutSeconds: _, ...what } = spec;
  const hash = createHash('sha256')
    .update(JSON.stringify([what, moduleText]))
    .digest('hex');
  return `reward:${hash.slice(0, 12)}`;
}

function decidingFiles(spec: RewardSpec): (path: string) => boolean {
  const paths = [...spec.files, ...(spec.kind === 'module' ? [spec.path] : [])].map((path) =>
    path.replace(/^\.\//, '').replace(/\/+$/, ''),
  );
  return (path) => paths.some((own) => path === own || path.startsWith(`${own}/`));
}

const key = z.string().min(1);

const rewardLine = z.union([
  z.object({ type: z.literal('key'), key }),
  z.object({ type: z.literal('reward'), key, value: z.boolean() }),
  z.object({ type: z.literal('reward'), key, problem: z.string() }),
]);

function parseReward(report: Uint8Array, run: RawRun, id: string, name: string): ParsedReport {
  const message = whyNot(report, run.exitCode);
  const result: TestResult = {
    ...{ id, file: '', name, durationMs: 0 },
    status: message === undefined ? 'passed' : 'failed',
    ...(message !== undefined && { failure: { message, details: `${message}\n${run.log}` } }),
  };
  return { results: [result], collectionErrors: [], complete: run.exitCode !== undefined };
}

/** undefined: the reward is 1. Code under test may end the process or write what it likes. */
function whyNot(report: Uint8Array, exitCode: number | undefined): string | undefined {
  if (exitCode === undefined) return 'reward(context) had not returned when the time was up';
  const [first, ...lines] = readJsonLines(new TextDecoder().decode(report), rewardLine);
  const own = lines.filter((line) => line.type === 'reward' && line.key === first?.key);
  if (own.length < lines.length) return 'something else than the reward module wrote a reward';
  const [line] = own;
  if (line?.type !== 'reward' || own.length > 1 || exitCode !== 0) {
    return `the process ended before reward(context) returned (exit code ${exitCode})`;
  }
  if ('problem' in line) return line.problem;
  return line.value ? undefined : 'reward(context) returned false';
}
