import type { TestResult, TestRun } from '../frameworks/framework.ts';
import { runTests } from '../frameworks/run.ts';
import type { PreparedProject } from './prepare.ts';
import { openWorkspaceRunner } from './workspace-runner.ts';

export interface ParityWarning {
  readonly text: string;
  readonly remedy: string;
}

export interface ParityOutcome {
  readonly warnings: readonly ParityWarning[];
  /** Fail only in the sandbox: no attempt can mend them. */
  readonly onlyInSandbox: readonly SandboxOnly[];
}

export interface SandboxOnly {
  readonly id: string;
  readonly reason: string;
  readonly remedy: string;
}

const USING_SANDBOX = 'Working with the result of the sandbox.';

/**
 * Do the targets fail in the sandbox as they do for the user? What differs is a matter of the
 * environment, never the bug, and no attempt can mend it.
 *
 * @param targets as they failed in the sandbox
 */
export async function checkParity(
  project: PreparedProject,
  targets: readonly TestResult[],
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<ParityOutcome> {
  const { setup, root } = project;
  const { framework, projectPath, timeoutMs } = setup;
  // The tests of a container may need nothing of this machine.
  if (project.own === undefined) return { warnings: [], onlyInSandbox: [] };
  const { toolchain, program } = project.own;
  const { dependencies } = setup.spec.base;
  const { toolbox } = framework;
  const opened = await openWorkspaceRunner(
    { root, dependencies },
    { toolchain, toolbox, environment, signal },
  );
  if (opened.kind === 'unavailable') {
    if (signal.aborted) return { warnings: [], onlyInSandbox: [] };
    const text = `The tests were not run in your own environment: ${opened.reason}.`;
    return { warnings: [{ text, remedy: USING_SANDBOX }], onlyInSandbox: [] };
  }
  const { runner } = opened;
  let own: TestRun;
  try {
    const tests = targets.map((test) => test.id);
    own = await runTests(runner, framework, { program, projectPath, tests }, { timeoutMs, signal });
  } finally {
    await runner.close();
  }
  if (own.kind === 'cancelled') return { warnings: [], onlyInSandbox: [] };
  if (own.kind === 'timeout' && framework.timeoutIsResult) return compare(targets, own.results);
  if (own.kind !== 'ran') {
    const what = own.kind === 'timeout' ? 'did not end in time' : `did not start: ${own.reason}`;
    const text = `In your own environment the test run ${what}.`;
    return { warnings: [{ text, remedy: USING_SANDBOX }], onlyInSandbox: [] };
  }
  return compare(targets, own.results);
}

/** Pure part: what is different, and what to do about it. */
export function compare(
  inSandbox: readonly TestResult[],
  own: readonly TestResult[],
): ParityOutcome {
  const warnings: ParityWarning[] = [];
  const onlyInSandbox: SandboxOnly[] = [];
  for (const target of inSandbox) {
    const mine = own.find((test) => test.id === target.id);
    if (!mine) {
      warnings.push({
        text: `${target.id} is not found in your own environment, only in the sandbox.`,
        remedy: 'Check that both use the same interpreter: prime-agent doctor.',
      });
    } else if (mine.status === 'passed') {
      onlyInSandbox.push({
        id: target.id,
        reason: `passes in your own environment and fails only in the sandbox (${cause(target)}), so there is no bug to fix`,
        remedy: remedyFor(target),
      });
    } else if (cause(mine) !== cause(target)) {
      warnings.push({
        text: `${target.id} fails differently in the sandbox: ${cause(target)} (in your own environment: ${cause(mine)}).`,
        remedy: remedyFor(target),
      });
    }
  }
  return { warnings, onlyInSandbox };
}

/** The first line of a failure, without what changes from run to run. */
function cause(test: TestResult): string {
  const line = test.failure?.message.split('\n', 1)[0] ?? test.status;
  return line
    .replace(/0x[0-9a-f]+/gi, '0x…')
    .replace(/\d+(\.\d+)? ?m?s\b/g, '… ms')
    .slice(0, 160);
}

function remedyFor(test: TestResult): string {
  const text = `${test.failure?.message ?? ''}\n${test.failure?.details ?? ''}`;
  if (/ENOENT|FileNotFoundError|No such file/i.test(text)) {
    const path = /(?:open|stat|scandir|directory:) '(?:\/workspace\/)?([^/'][^']*)'/.exec(
      text,
    )?.[1];
    return `A file is missing that git ignores. Name it: --include "${path ?? 'path/to/file'}" (globs work).`;
  }
  if (
    /ModuleNotFoundError|ERR_MODULE_NOT_FOUND|Cannot find (module|package)|ImportError/.test(text)
  ) {
    return 'A package is missing. Check the interpreter with: prime-agent doctor, and install the project’s dependencies.';
  }
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|fetch failed|Name or service not known|Network is unreachable|getaddrinfo/i.test(
      text,
    )
  ) {
    return 'The test needs the network or a service, which the sandbox does not have. Leave it out with --test, or run without isolation: --sandbox none.';
  }
  return 'Compare the two environments with: prime-agent doctor. Variables of your shell do not exist in the sandbox.';
}
