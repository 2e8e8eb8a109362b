import type { Steering } from '../framework.ts';
import { restoreManifest } from '../javascript/restore-manifest.ts';
import { isNodeTestName } from './detect.ts';

const SUPPORT_FOLDER = /(?:^|\/)(?:__snapshots__|__fixtures__|__mocks__|fixtures)\//;
const STEERING_FILE =
  /(?:^|\/)(?:\.npmrc|\.nvmrc|\.node-version|\.node-options|node\.config\.json|\.c8rc(?:\.json)?|\.nycrc(?:\.json)?|\.mocharc\.\w+|\.env\.test)$/;

export const nodeSteering: Steering = {
  isTestFile: (path) =>
    isNodeTestName(path) ||
    /(?:^|\/)(?:tests?|__tests__)\//.test(path) ||
    SUPPORT_FOLDER.test(path) ||
    /\.snap(?:shot)?$|\.snapshot\.\w+$/.test(path),
  isSteeringFile: (path) => STEERING_FILE.test(path) || /(?:^|\/)node_modules\//.test(path),
  restoreKeys: (path, before, after) =>
    /(?:^|\/)package\.json$/.test(path) ? restoreManifest(before, after) : undefined,
};
