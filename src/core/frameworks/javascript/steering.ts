import type { Steering } from '../framework.ts';
import { isScriptTestName } from './detect.ts';
import { restoreManifest } from './restore-manifest.ts';

/** Snapshots, mocks and fixtures that tests compare with or load. */
const SUPPORT_FOLDER =
  /(?:^|\/)(?:__snapshots__|__fixtures__|__mocks__|fixtures|tap-snapshots|snapshots)\//;
const SNAPSHOT = /\.snap(?:shot)?$|\.snapshot\.\w+$|\.(?:test|spec)\.[cm]?[jt]sx?\.(?:md|snap)$/;
/** Set-up files by their usual names, wherever they are: `src/setupTests.ts`, `config/jest.setup.js`. */
const SETUP =
  /(?:^|\/)(?:setup[-_.]?(?:tests?|files?|jest|vitest|mocha|env)|(?:tests?|jest|vitest|mocha|vi)[-_.]?(?:global[-_.]?)?(?:setup|teardown|environment|globals?)|global[-_.]?(?:setup|teardown))(?:[-_.]\w+)*\.[cm]?[jt]sx?$/i;
/** Configuration of any of the runners, of what transforms the code for them, and of Node. */
const CONFIG =
  /(?:^|\/)(?:(?:vitest|vite|jest|ava|babel|swc|playwright|karma|wallaby)\.(?:[\w-]+\.)*(?:config|workspace|projects?|preset|shims?|unit|e2e|base)\.(?:[\w-]+\.)*(?:[cm]?[jt]s|json)|vitest\.workspace\.\w+|jest\.config\.\w+|\.babelrc(?:\.\w+)?|\.swcrc|\.mocharc(?:\.\w+)?|mocha\.opts|\.taprc|\.tap\/.*|\.c8rc(?:\.json)?|\.nycrc(?:\.\w+)?|\.npmrc|\.pnpmfile\.cjs|\.yarnrc(?:\.yml)?|\.nvmrc|\.node-version|\.node-options|node\.config\.json|\.env\.test(?:\.local)?)$/;

/** One for all runners of JavaScript tests: a file that steers another one does no harm unchanged. */
export const javaScriptSteering: Steering = {
  isTestFile: (path) =>
    isScriptTestName(path) ||
    /(?:^|\/)(?:tests?|__tests__)\//.test(path) ||
    SUPPORT_FOLDER.test(path) ||
    SNAPSHOT.test(path),
  isSteeringFile: (path) =>
    CONFIG.test(path) || SETUP.test(path) || /(?:^|\/)node_modules\//.test(path),
  restoreKeys: (path, before, after) =>
    /(?:^|\/)package\.json$/.test(path) ? restoreManifest(before, after) : undefined,
};
