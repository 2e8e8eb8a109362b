import { posix } from 'node:path';
import { TOOLBOX, WORKSPACE } from '../../sandbox/sandbox.ts';
import type { Framework, RunRequest, TestCommand } from '../framework.ts';
import files from '../javascript/files.asset.mjs';
import scripts from '../javascript/scripts.asset.mjs';
import seal from '../javascript/seal.asset.cjs';
import tell from '../javascript/tell.asset.cjs';
import { parseReport } from '../report.ts';
import { fileOf, insideProject } from '../select.ts';
import { plantNodeTestCanaries } from './canaries.ts';
import { detectNodeTest } from './detect.ts';
import failure from './failure.asset.cjs';
import launcher from './launch.asset.mjs';
import listHook from './list.asset.mjs';
import reporter from './reporter.asset.mjs';
import { nodeSteering } from './steering.ts';
import { findNode } from './toolchain.ts';

/** Linux allows 128 KiB for one argument. */
const MAX_REQUEST_BYTES = 100_000;

export const nodeTest: Framework = {
  id: 'node:test',
  label: 'node:test',
  detect: detectNodeTest,
  toolchain: (workspace) => findNode(workspace),
  toolbox: {
    'javascript/files.asset.mjs': files,
    'javascript/scripts.asset.mjs': scripts,
    'javascript/seal.asset.cjs': seal,
    'javascript/tell.asset.cjs': tell,
    'node-test/failure.asset.cjs': failure,
    'node-test/launch.mjs': launcher,
    'node-test/list.mjs': listHook,
    'node-test/reporter.mjs': reporter,
  },
  command,
  isSealed: true,
  parse: (report, run) => parseReport(report, run, nodeSteering.isTestFile),
  steering: nodeSteering,
  plantCanaries: plantNodeTestCanaries,
};

function command(request: RunRequest): TestCommand {
  const { program, projectPath, reportFd, listOnly: list } = request;
  let tests = insideProject(request.tests, projectPath);
  // Too many to name: whole files, of which only the chosen results count.
  if (JSON.stringify(tests).length > MAX_REQUEST_BYTES) tests = [...new Set(tests.map(fileOf))];
  return {
    // Node keeps descriptors up to 15 from its child processes, so on 3 no test can reach it.
    argv: [
      ...['bash', '-c', `exec "$@" 3>&${reportFd} ${reportFd}>&-`, 'node-test'],
      ...[program, `${TOOLBOX}/node-test/launch.mjs`, JSON.stringify({ tests, list })],
    ],
    env: {},
    cwd: posix.join(WORKSPACE, projectPath),
  };
}
