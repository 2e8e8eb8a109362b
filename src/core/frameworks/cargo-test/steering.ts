import type { Steering } from '../framework.ts';
import { isCargoTestFile } from './detect.ts';
import { restoreTests } from './inline-tests.ts';

/**
 * Manifests as a whole: profiles, patches, features and dependencies all change what a test sees,
 * and without a network a fix cannot add packages anyway. Build scripts can set `cfg` values.
 */
const STEERING_FILE =
  /(?:^|\/)(?:Cargo\.(?:toml|lock)|rust-toolchain(?:\.toml)?|build\.rs|clippy\.toml)$|(?:^|\/)(?:\.cargo|vendor)\//;
/** Of a package of its own, not a module among sources, whose name would be the sources' business. */
const BUILD_MODULE = /(?:^|\/)src\/(?:.*\/)?build\.rs$/;
/** Crates by whose helpers tests judge: `crates/test-util`. */
const TEST_SUPPORT = /(?:^|\/)test[-_]?(?:util|helper|support|kit|fixture)s?\//i;

export const cargoSteering: Steering = {
  isTestFile: isCargoTestFile,
  isSteeringFile: (path) =>
    (STEERING_FILE.test(path) && !BUILD_MODULE.test(path)) || TEST_SUPPORT.test(path),
  holdsSources: (path) => path.endsWith('.rs') && !isCargoTestFile(path),
  restoreKeys: (path, before, after) =>
    path.endsWith('.rs') && !isCargoTestFile(path) ? restoreTests(before ?? '', after) : undefined,
};
