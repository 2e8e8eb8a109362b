import type { Framework } from '../framework.ts';
import { javaScriptCommand, sharedToolbox } from '../javascript/command.ts';
import { detectRunner, isScriptTestName } from '../javascript/detect.ts';
import { javaScriptSteering } from '../javascript/steering.ts';
import { findNodeWith } from '../javascript/toolchain.ts';
import { parseReport } from '../report.ts';
import { plantTapeCanaries } from './canaries.ts';
import hook from './hook.asset.cjs';
import runner from './run.asset.mjs';

export const tape: Framework = {
  id: 'tape',
  label: 'tape',
  detect: (workspace) =>
    detectRunner(workspace, {
      tool: 'tape',
      isTestName: isScriptTestName,
      says: /['"]tape['"]/,
    }),
  toolchain: (workspace) => findNodeWith(workspace, { name: 'tape', oldest: '5.0.0' }),
  toolbox: { ...sharedToolbox, 'tape/hook.asset.cjs': hook, 'tape/run.asset.mjs': runner },
  command: (request) => javaScriptCommand('tape', 'tape/run.asset.mjs', request),
  isSealed: true,
  parse: (report, run) => parseReport(report, run, javaScriptSteering.isTestFile),
  steering: javaScriptSteering,
  plantCanaries: plantTapeCanaries,
};
