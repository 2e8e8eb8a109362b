import { posix } from 'node:path';
import { TOOLBOX, WORKSPACE } from '../../sandbox/sandbox.ts';
import type { Framework, RunRequest, Steering, TestCommand } from '../framework.ts';
import { currentHost } from '../host.ts';
import { pytestSteering } from '../pytest/steering.ts';
import { findPython } from '../pytest/toolchain.ts';
import shared from '../python/prime_report.py';
import { parseReport } from '../report.ts';
import { fileOf, insideProject } from '../select.ts';
import { plantUnittestCanaries } from './canaries.ts';
import { detectUnittest, isUnittestName } from './detect.ts';
import runner from './runner.py';

/** Linux allows 128 KiB for one variable. */
const MAX_REQUEST_BYTES = 100_000;

const steering: Steering = {
  ...pytestSteering,
  isTestFile: (path) => isUnittestName(path) || pytestSteering.isTestFile(path),
};

export const unittest: Framework = {
  id: 'unittest',
  label: 'unittest',
  detect: detectUnittest,
  toolchain: (workspace, wishes) => findPython(workspace, currentHost(), wishes, false),
  toolbox: { 'unittest/runner.py': runner, 'python/prime_report.py': shared },
  command,
  isSealed: true,
  parse: (report, run) => parseReport(report, run, steering.isTestFile),
  steering,
  plantCanaries: plantUnittestCanaries,
};

function command(request: RunRequest): TestCommand {
  const { program, projectPath, reportFd, listOnly: list } = request;
  let tests = insideProject(request.tests, projectPath);
  // Too many to name: whole files, of which only the chosen results count.
  if (JSON.stringify(tests).length > MAX_REQUEST_BYTES) tests = [...new Set(tests.map(fileOf))];
  return {
    argv: [program, `${TOOLBOX}/unittest/runner.py`],
    env: {
      PRIME_REPORT_FD: String(reportFd),
      PRIME_REQUEST: JSON.stringify({ tests, list }),
      // No stale bytecode after an edit within the same second, and no files in the layer.
      PYTHONDONTWRITEBYTECODE: '1',
      // Sets of strings print in the same order in every run.
      PYTHONHASHSEED: '0',
    },
    cwd: posix.join(WORKSPACE, projectPath),
  };
}
