import type { PlantCanaries } from '../framework.ts';
import { expectCanaries, hasOnly, isModule, planted } from '../javascript/canaries.ts';

/** See node-test/canaries.ts. Globals where the file uses them, else what it imports itself. */
export const plantJestCanaries: PlantCanaries = (file, source, nonce) => {
  if (hasOnly(source)) return undefined;
  const [test, expect] = [`test_${nonce}`, `expect_${nonce}`];
  const imports = !/['"]@jest\/globals['"]/.test(source)
    ? `const ${test} = globalThis.test, ${expect} = globalThis.expect;`
    : isModule(file, source)
      ? `import { test as ${test}, expect as ${expect} } from '@jest/globals';`
      : `const { test: ${test}, expect: ${expect} } = require('@jest/globals');`;
  return planted(file, source, `\n;\n${imports}${expectCanaries(nonce, test, expect)}`, nonce);
};
