import { posix } from 'node:path';
import { TOOLBOX, WORKSPACE } from '../../sandbox/sandbox.ts';
import type { Framework, RunRequest, TestCommand } from '../framework.ts';
import { currentHost } from '../host.ts';
import shared from '../python/prime_report.py';
import { parseReport } from '../report.ts';
import { fileOf, insideProject } from '../select.ts';
import { plantPytestCanaries } from './canaries.ts';
import { detectPytest } from './detect.ts';
import plugin from './plugin.py';
import { pytestSteering } from './steering.ts';
import { findPython } from './toolchain.ts';

/** Linux allows 128 KiB for one variable. */
const MAX_SELECTION_BYTES = 100_000;

export const pytest: Framework = {
  id: 'pytest',
  label: 'pytest',
  detect: detectPytest,
  toolchain: (workspace, wishes) => findPython(workspace, currentHost(), wishes),
  toolbox: { 'pytest/plugin.py': plugin, 'python/prime_report.py': shared },
  command,
  isSealed: true,
  parse: (report, run) => parseReport(report, run, pytestSteering.isTestFile),
  steering: pytestSteering,
  plantCanaries: plantPytestCanaries,
};

function command(request: RunRequest): TestCommand {
  const { program, projectPath, reportFd, listOnly } = request;
  const tests = insideProject(request.tests, projectPath);
  const selection = JSON.stringify(tests);
  return {
    argv: [
      ...[program, `${TOOLBOX}/pytest/plugin.py`],
      ...['-p', 'no:cacheprovider', '-p', 'no:stepwise'],
      // Ids must not depend on which files are named (pytest would choose another rootdir).
      ...[
        '--rootdir=.',
        '--maxfail=0',
        '--continue-on-collection-errors',
        '--color=no',
        '--tb=short',
        '-q',
      ],
      ...(listOnly ? ['--collect-only'] : []),
      // Files as arguments, tests by selection: one id that no longer exists must not stop the others.
      ...new Set(tests.map(fileOf)),
    ],
    env: {
      PRIME_REPORT_FD: String(reportFd),
      ...(selection.length <= MAX_SELECTION_BYTES && { PRIME_SELECT: selection }),
      // No stale bytecode after an edit within the same second, and no files in the layer.
      PYTHONDONTWRITEBYTECODE: '1',
      // Sets of strings print in the same order in every run.
      PYTHONHASHSEED: '0',
    },
    cwd: posix.join(WORKSPACE, projectPath),
  };
}
