import type { Framework } from '../framework.ts';
import { javaScriptCommand, sharedToolbox } from '../javascript/command.ts';
import { detectRunner, isScriptTestName } from '../javascript/detect.ts';
import { javaScriptSteering } from '../javascript/steering.ts';
import { findNodeWith } from '../javascript/toolchain.ts';
import { parseReport } from '../report.ts';
import { plantAvaCanaries } from './canaries.ts';
import runner from './run.asset.mjs';

export const ava: Framework = {
  id: 'ava',
  label: 'ava',
  detect: (workspace) =>
    detectRunner(workspace, {
      tool: 'ava',
      config: /^ava\.config\.\w+$/,
      key: 'ava',
      isTestName: isScriptTestName,
      says: /['"]ava['"]/,
    }),
  toolchain: (workspace) => findNodeWith(workspace, { name: 'ava', oldest: '5.0.0' }),
  toolbox: { ...sharedToolbox, 'ava/run.asset.mjs': runner },
  command: (request) => javaScriptCommand('ava', 'ava/run.asset.mjs', request),
  isSealed: true,
  parse: (report, run) => parseReport(report, run, javaScriptSteering.isTestFile),
  steering: javaScriptSteering,
  plantCanaries: plantAvaCanaries,
};
