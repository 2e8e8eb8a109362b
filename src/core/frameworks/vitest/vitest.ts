import type { Framework } from '../framework.ts';
import { javaScriptCommand, sharedToolbox } from '../javascript/command.ts';
import { detectRunner, isScriptTestName } from '../javascript/detect.ts';
import { javaScriptSteering } from '../javascript/steering.ts';
import { findNodeWith } from '../javascript/toolchain.ts';
import { parseReport } from '../report.ts';
import { plantVitestCanaries } from './canaries.ts';
import runner from './run.asset.mjs';

export const vitest: Framework = {
  id: 'vitest',
  label: 'vitest',
  detect: (workspace) =>
    detectRunner(workspace, {
      tool: 'vitest',
      config: /^vitest\.(?:config|workspace|projects)\.\w+$/,
      isTestName: isScriptTestName,
      says: /['"]vitest['"]|\b(?:test|it|describe)(?:\.\w+)*\s*\(/,
    }),
  toolchain: (workspace) => findNodeWith(workspace, { name: 'vitest', oldest: '1.4.0' }),
  toolbox: { ...sharedToolbox, 'vitest/run.asset.mjs': runner },
  command: (request) => javaScriptCommand('vitest', 'vitest/run.asset.mjs', request),
  isSealed: true,
  parse: (report, run) => parseReport(report, run, javaScriptSteering.isTestFile),
  steering: javaScriptSteering,
  plantCanaries: plantVitestCanaries,
};
