import type { Framework } from '../framework.ts';
import { javaScriptCommand, sharedToolbox } from '../javascript/command.ts';
import { detectRunner, isScriptTestName } from '../javascript/detect.ts';
import { javaScriptSteering } from '../javascript/steering.ts';
import { findNodeWith } from '../javascript/toolchain.ts';
import { parseReport } from '../report.ts';
import { plantJestCanaries } from './canaries.ts';
import reporter from './reporter.asset.cjs';
import runner from './run.asset.cjs';

export const jest: Framework = {
  id: 'jest',
  label: 'jest',
  detect: (workspace) =>
    detectRunner(workspace, {
      tool: 'jest',
      config: /^jest\.config\.\w+$/,
      key: 'jest',
      isTestName: isScriptTestName,
      says: /\b(?:it|test|describe)(?:\.\w+)*\s*\(/,
    }),
  toolchain: (workspace) => findNodeWith(workspace, { name: 'jest', oldest: '27.0.0' }),
  toolbox: {
    ...sharedToolbox,
    'jest/reporter.asset.cjs': reporter,
    'jest/run.asset.cjs': runner,
  },
  command: (request) => javaScriptCommand('jest', 'jest/run.asset.cjs', request),
  isSealed: true,
  parse: (report, run) => parseReport(report, run, javaScriptSteering.isTestFile),
  steering: javaScriptSteering,
  plantCanaries: plantJestCanaries,
};
