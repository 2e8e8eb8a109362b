import type { Steering } from '../framework.ts';
import { isGoTestName } from './detect.ts';

/**
 * `go.mod` as a whole: `replace` puts other code in the place of an assertion library, and without
 * a network a fix cannot add modules anyway.
 */
const STEERING_FILE = /(?:^|\/)(?:go\.(?:mod|sum|work|work\.sum)|\.go-version)$|(?:^|\/)vendor\//;

export const goSteering: Steering = {
  isTestFile: (path) => isGoTestName(path) || /(?:^|\/)testdata\//.test(path),
  isSteeringFile: (path) => STEERING_FILE.test(path),
  restoreKeys: () => undefined,
};
