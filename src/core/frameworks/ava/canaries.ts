import type { PlantCanaries } from '../framework.ts';
import {
  hasOnly,
  isModule,
  LANGUAGE_CHECK,
  planted,
  plantedNames,
} from '../javascript/canaries.ts';

/** See tape/canaries.ts: ava's assertions tell the test, so the failing tests are the check. */
export const plantAvaCanaries: PlantCanaries = (file, source, nonce) => {
  if (hasOnly(source) || /\.only\s*\(/.test(source)) return undefined;
  const { pass, fails } = plantedNames(nonce);
  const [raise, equal, deep] = fails;
  const test = `test_${nonce}`;
  const imports = isModule(file, source)
    ? `import ${test} from 'ava';`
    : `const ${test} = require('ava');`;
  const code = `
;
${imports}
${test}(${JSON.stringify(pass)}, (t) => { ${LANGUAGE_CHECK} t.is(1, 1); t.deepEqual({ a: [1] }, { a: [1] }); });
${test}(${JSON.stringify(raise)}, () => { throw new Error('planted'); });
${test}(${JSON.stringify(equal)}, (t) => { t.is(1, 2); });
${test}(${JSON.stringify(deep)}, async (t) => { await null; t.deepEqual({ a: [1, 2] }, { a: [1, 3] }); });
`;
  return planted(file, source, code, nonce);
};
