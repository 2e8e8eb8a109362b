import { WORKSPACE } from '../../sandbox/sandbox.ts';
import type { Framework, ParsedReport, RawRun } from '../framework.ts';

/** The one test that an own command is. */
export const COMMAND_TEST = 'command';

const STEERING_NAMES =
  /(^|\/)(Makefile|makefile|GNUmakefile|justfile|Taskfile\.ya?ml|tox\.ini|noxfile\.py|package\.json|conftest\.py)$/;
const TEST_NAMES =
  /(^|\/)(tests?|__tests__|spec|specs)\/|(^|\/)(test_[^/]*|[^/]*[._-](test|spec)s?)\.[^/.]+$/;

const LOG_TAIL = 2_000;

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
    command: () => ({ argv: ['bash', '-c', command], env: {}, cwd: WORKSPACE }),
    parse: (_, run) => parseCommand(command, run),
    steering: {
      isTestFile: (path) => TEST_NAMES.test(path),
      isSteeringFile: (path) => STEERING_NAMES.test(path),
      restoreKeys: () => undefined,
    },
  };
}

function parseCommand(command: string, { exitCode, log }: RawRun): ParsedReport {
  const passed = exitCode === 0;
  const tail = log.trim().slice(-LOG_TAIL);
  const failure = { message: `exit code ${exitCode ?? 'unknown'}\n${tail}`.trim(), details: log };
  return {
    results: [
      {
        id: COMMAND_TEST,
        file: '',
        name: command,
        status: passed ? 'passed' : 'failed',
        durationMs: 0,
        ...(passed ? {} : { failure }),
      },
    ],
    collectionErrors: [],
    complete: exitCode !== undefined,
  };
}
