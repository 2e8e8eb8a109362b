import { cargoTest } from './cargo-test/cargo-test.ts';
import type { Framework } from './framework.ts';
import { goTest } from './go-test/go-test.ts';
import { junit } from './junit/junit.ts';
import { nodeTest } from './node-test/node-test.ts';
import { pytest } from './pytest/pytest.ts';

/** Every framework that is known. One more is one more folder and one more line. */
export const allFrameworks: readonly Framework[] = [nodeTest, pytest, goTest, cargoTest, junit];
