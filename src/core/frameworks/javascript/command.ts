import { posix } from 'node:path';
import { TOOLBOX, WORKSPACE } from '../../sandbox/sandbox.ts';
import type { RunRequest, TestCommand } from '../framework.ts';
import { fileOf, insideProject } from '../select.ts';
import choice from './choice.asset.cjs';
import files from './files.asset.mjs';
import launcher from './launch.asset.mjs';
import report from './report.asset.cjs';
import scripts from './scripts.asset.mjs';
import seal from './seal.asset.cjs';
import tell from './tell.asset.cjs';

/** Linux allows 128 KiB for one argument. */
const MAX_REQUEST_BYTES = 100_000;

/** What every JavaScript runner's own script needs next to it. */
export const sharedToolbox: Readonly<Record<string, string>> = {
  'javascript/choice.asset.cjs': choice,
  'javascript/files.asset.mjs': files,
  'javascript/launch.asset.mjs': launcher,
  'javascript/report.asset.cjs': report,
  'javascript/scripts.asset.mjs': scripts,
  'javascript/seal.asset.cjs': seal,
  'javascript/tell.asset.cjs': tell,
};

/**
 * @param tool the runner's name in scripts: `vitest`
 * @param run our script that drives it, relative to the toolbox
 */
export function javaScriptCommand(tool: string, run: string, request: RunRequest): TestCommand {
  const { program, projectPath, reportFd, listOnly: list } = request;
  let tests = insideProject(request.tests, projectPath);
  // Too many to name: whole files, of which only the chosen results count.
  if (JSON.stringify(tests).length > MAX_REQUEST_BYTES) tests = [...new Set(tests.map(fileOf))];
  return {
    // Node keeps descriptors up to 15 from its child processes, so on 3 no worker can reach it.
    argv: [
      ...['bash', '-c', `exec "$@" 3>&${reportFd} ${reportFd}>&-`, tool],
      ...[program, `${TOOLBOX}/javascript/launch.asset.mjs`],
      JSON.stringify({ tool, run, tests, list }),
    ],
    env: {},
    cwd: posix.join(WORKSPACE, projectPath),
  };
}
