import type { PlantCanaries } from '../framework.ts';
import { expectCanaries, hasOnly, planted } from '../javascript/canaries.ts';

/** See node-test/canaries.ts. Imports may stand anywhere at the top level of a module. */
export const plantVitestCanaries: PlantCanaries = (file, source, nonce) => {
  if (hasOnly(source) || /\.cjs$/.test(file)) return undefined;
  const imports = `
;
import { expect as expect_${nonce}, test as test_${nonce} } from 'vitest';`;
  const code = imports + expectCanaries(nonce, `test_${nonce}`, `expect_${nonce}`);
  return planted(file, source, code, nonce);
};
