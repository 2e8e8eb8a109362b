import type { Framework } from '../framework.ts';
import { javaScriptCommand, sharedToolbox } from '../javascript/command.ts';
import { detectRunner, isScriptTestName } from '../javascript/detect.ts';
import { javaScriptSteering } from '../javascript/steering.ts';
import { findNodeWith } from '../javascript/toolchain.ts';
import { parseReport } from '../report.ts';
import { plantMochaCanaries } from './canaries.ts';
import reporter from './reporter.asset.cjs';
import runner from './run.asset.cjs';

export const mocha: Framework = {
  id: 'mocha',
  label: 'mocha',
  detect: (workspace) =>
    detectRunner(workspace, {
      tool: 'mocha',
      config: /^\.mocharc\.\w+$/,
      key: 'mocha',
      isTestName: isScriptTestName,
      says: /\b(?:it|test|specify)(?:\.\w+)*\s*\(/,
    }),
  // Asynchronous loading, dry runs and command-line entry as we use them.
  toolchain: (workspace) => findNodeWith(workspace, { name: 'mocha', oldest: '9.0.0' }),
  toolbox: {
    ...sharedToolbox,
    'mocha/reporter.asset.cjs': reporter,
    'mocha/run.asset.cjs': runner,
  },
  command: (request) => javaScriptCommand('mocha', 'mocha/run.asset.cjs', request),
  isSealed: true,
  parse: (report, run) => parseReport(report, run, javaScriptSteering.isTestFile),
  steering: javaScriptSteering,
  plantCanaries: plantMochaCanaries,
};
