import { WORKSPACE } from '../../sandbox/sandbox.ts';
import type { Framework, ParsedReport, RawRun } from '../framework.ts';

/** The one test that an own command is. */
export const COMMAND_TEST = 'command';

const STEERING_NAMES =
  /(^|\/)(Makefile|makefile|GNUmakefile|justfile|Taskfile\.ya?ml|tox\.ini|noxfile\.py|package\.json|conftest\.py)$/;
const TEST_NAMES =
  /(^|\/)(tests?|__tests__|spec|specs)\/|(^|\/)(test_[^/]*|[^/]*[._-](test|spec)s?)\.[^/.]+$/;

const LOG_TAIL = 2_000;

/** The whole report where the command was only to be listed. */
const LISTED = 'listed';

/**
 * `--command`: the command's exit code is the result. Nothing is known of single tests, so the
 * whole command is the target, and there is no planted test: docs/grading.md says what that means.
 */
export function createCommandFramework(command: string): Framework {
  return {
    id: 'command',
    label: command,
    detect: async () => ({ confidence: 1, reason: 'given', projectPath: '' }),
    toolchain: async () => ({
      kind: 'found',
      program: '/bin/bash',
      toolchain: { path: [], mounts: [], env: {} },
      detail: 'with the programs of the system',
    }),
    toolbox: {},
    command: ({ listOnly, reportFd }) => ({
      argv: listOnly
        ? ['bash', '-c', `echo ${LISTED} >&"$1"`, 'list', String(reportFd)]
        : ['bash', '-c', command],
      env: {},
      cwd: WORKSPACE,
    }),
    parse: (report, run) => parseCommand(command, report, run),
    steering: {
      isTestFile: (path) => TEST_NAMES.test(path),
      isSteeringFile: (path) => STEERING_NAMES.test(path),
      restoreKeys: () => undefined,
    },
  };
}

function parseCommand(command: string, report: Uint8Array, run: RawRun): ParsedReport {
  const { exitCode, log } = run;
  const passed = exitCode === 0;
  const isListed = passed && new TextDecoder().decode(report) === `${LISTED}\n`;
  const tail = log.trim().slice(-LOG_TAIL);
  const failure = { message: `exit code ${exitCode ?? 'unknown'}\n${tail}`.trim(), details: log };
  return {
    results: [
      {
        id: COMMAND_TEST,
        file: '',
        name: command,
        status: isListed ? 'listed' : passed ? 'passed' : 'failed',
        durationMs: 0,
        ...(passed ? {} : { failure }),
      },
    ],
    collectionErrors: [],
    complete: exitCode !== undefined,
  };
}
