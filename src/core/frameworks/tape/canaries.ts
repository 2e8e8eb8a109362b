import type { PlantCanaries } from '../framework.ts';
import {
  hasOnly,
  isModule,
  LANGUAGE_CHECK,
  planted,
  plantedNames,
} from '../javascript/canaries.ts';

/**
 * See node-test/canaries.ts. Tape's assertions do not throw, so the one test that must pass looks at
 * the language alone; the others must fail by assertions of every kind.
 */
export const plantTapeCanaries: PlantCanaries = (file, source, nonce) => {
  if (hasOnly(source) || /\.only\s*\(/.test(source)) return undefined;
  const { pass, fails } = plantedNames(nonce);
  const [raise, equal, deep] = fails;
  const test = `test_${nonce}`;
  const imports = isModule(file, source)
    ? `import ${test} from 'tape';`
    : `const ${test} = require('tape');`;
  const code = `
;
${imports}
${test}(${JSON.stringify(pass)}, (t) => { ${LANGUAGE_CHECK} t.equal(1, 1); t.deepEqual({ a: [1] }, { a: [1] }); t.end(); });
${test}(${JSON.stringify(raise)}, (t) => { t.fail('planted'); t.end(); });
${test}(${JSON.stringify(equal)}, (t) => { t.equal(1, 2); t.end(); });
${test}(${JSON.stringify(deep)}, (t) => { t.deepEqual({ a: [1, 2] }, { a: [1, 3] }); t.end(); });
`;
  return planted(file, source, code, nonce);
};
