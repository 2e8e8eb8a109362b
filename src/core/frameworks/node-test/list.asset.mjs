// Preloaded in list mode: every test fails before its body runs, so that the runner reports its
// name and place and nothing else happens. Module code and `before` hooks of suites do run, as in
// any collection.
import { beforeEach } from 'node:test';

if (process.env.NODE_TEST_CONTEXT) {
  beforeEach(() => {
    throw new Error('prime-agent: listed only');
  });
}
