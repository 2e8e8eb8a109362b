import type { Framework } from '../framework.ts';
import { javaScriptCommand, sharedToolbox } from '../javascript/command.ts';
import { detectRunner, isScriptTestName } from '../javascript/detect.ts';
import { javaScriptSteering } from '../javascript/steering.ts';
import { findNodeWith } from '../javascript/toolchain.ts';
import { parseReport } from '../report.ts';
import { plantTapCanaries } from './canaries.ts';
import parser from './parser.asset.cjs';
import runner from './run.asset.cjs';

export const tap: Framework = {
  id: 'tap',
  label: 'tap',
  detect: (workspace) =>
    detectRunner(workspace, {
      tool: 'tap',
      config: /^\.taprc$/,
      key: 'tap',
      isTestName: isScriptTestName,
      says: /['"]tap['"]/,
    }),
  // `tap run` and TAP 14.
  toolchain: (workspace) => findNodeWith(workspace, { name: 'tap', oldest: '18.0.0' }),
  toolbox: { ...sharedToolbox, 'tap/parser.asset.cjs': parser, 'tap/run.asset.cjs': runner },
  command: (request) => javaScriptCommand('tap', 'tap/run.asset.cjs', request),
  isSealed: true,
  parse: (report, run) => parseReport(report, run, javaScriptSteering.isTestFile),
  steering: javaScriptSteering,
  plantCanaries: plantTapCanaries,
};
