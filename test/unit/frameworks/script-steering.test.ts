import { describe, expect, test } from 'vitest';
import { javaScriptSteering } from '../../../src/core/frameworks/javascript/steering.ts';

describe('what steers runners of JavaScript tests', () => {
  test.each([
    'vitest.config.ts',
    'packages/a/vitest.workspace.mts',
    'vite.config.js',
    'jest.config.cjs',
    'jest.config.unit.json',
    'jest.unit.config.js',
    'babel.config.js',
    '.babelrc',
    '.mocharc.yml',
    'test/mocha.opts',
    '.taprc',
    'ava.config.mjs',
    '.nycrc.json',
    'src/setupTests.ts',
    'config/jest.setup.js',
    'vitest.setup.ts',
    'vitest-setup.ts',
    'scripts/global-setup.js',
    'test-setup.js',
    '.env.test',
    'node_modules/chai/index.js',
  ])('%s steers', (path) => {
    expect(javaScriptSteering.isSteeringFile(path)).toBe(true);
  });

  test.each([
    'src/setup.ts',
    'src/cart.ts',
    'src/test-utils.ts',
    'src/config.ts',
    'src/jest.ts',
    'src/setup-account.ts',
    'tsconfig.json',
    'package.json',
  ])('%s does not', (path) => {
    expect(javaScriptSteering.isSteeringFile(path)).toBe(false);
  });

  test.each([
    'src/cart.test.ts',
    'src/cart.spec.jsx',
    'test/helper.js',
    '__tests__/a.js',
    'src/__snapshots__/a.snap',
    'src/__mocks__/fs.js',
    'tap-snapshots/test/a.js.test.cjs',
    'test/snapshots/a.js.md',
  ])('%s belongs to the tests', (path) => {
    expect(javaScriptSteering.isTestFile(path)).toBe(true);
  });

  test.each(['src/contest.ts', 'src/latest/index.js', 'src/types.d.ts'])('%s does not', (path) => {
    expect(javaScriptSteering.isTestFile(path)).toBe(false);
  });

  test('keys of runners in package.json come back, the others stay as they are now', () => {
    const before = '{\n  "scripts": { "test": "jest" },\n  "jest": { "bail": 0 }\n}\n';
    const after =
      '{\n  "scripts": { "test": "true", "build": "tsc" },\n  "jest": { "testPathIgnorePatterns": ["a"] },\n  "babel": {},\n  "type": "module"\n}\n';
    expect(JSON.parse(javaScriptSteering.restoreKeys('package.json', before, after) ?? '')).toEqual(
      { scripts: { test: 'jest', build: 'tsc' }, jest: { bail: 0 }, type: 'module' },
    );
  });
});
