import { ava } from './ava/ava.ts';
import { cargoTest } from './cargo-test/cargo-test.ts';
import type { Framework } from './framework.ts';
import { goTest } from './go-test/go-test.ts';
import { jest } from './jest/jest.ts';
import { junit } from './junit/junit.ts';
import { mocha } from './mocha/mocha.ts';
import { nodeTest } from './node-test/node-test.ts';
import { pytest } from './pytest/pytest.ts';
import { tap } from './tap/tap.ts';
import { tape } from './tape/tape.ts';
import { unittest } from './unittest/unittest.ts';
import { vitest } from './vitest/vitest.ts';

/** Every framework that is known. One more is one more folder and one more line. */
export const allFrameworks: readonly Framework[] = [
  nodeTest,
  pytest,
  vitest,
  jest,
  mocha,
  unittest,
  tap,
  tape,
  ava,
  goTest,
  cargoTest,
  junit,
];
