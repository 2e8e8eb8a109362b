import type { Steering } from '../framework.ts';
import { isGoTestName } from './detect.ts';

/**
 * `go.mod` as a whole: `replace` puts other code in the place of an assertion library, and without
 * a network a fix cannot add modules anyway.
 */
const STEERING_FILE = /(?:^|\/)(?:go\.(?:mod|sum|work|work\.sum)|\.go-version)$|(?:^|\/)vendor\//;
/** Packages by whose helpers tests judge: `internal/testutil`, `testhelpers`. */
const TEST_SUPPORT = /(?:^|\/)test[-_]?(?:util|helper|support|kit|fixture|case)s?\//i;

export const goSteering: Steering = {
  isExact: true,
  isTestFile: (path) => isGoTestName(path) || /(?:^|\/)testdata\//.test(path),
  isSteeringFile: (path) => STEERING_FILE.test(path) || TEST_SUPPORT.test(path),
  restoreKeys: () => undefined,
};
