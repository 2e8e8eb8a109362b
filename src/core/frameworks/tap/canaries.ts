import type { PlantCanaries } from '../framework.ts';
import {
  hasOnly,
  isModule,
  LANGUAGE_CHECK,
  planted,
  plantedNames,
} from '../javascript/canaries.ts';

/**
 * See tape/canaries.ts. A file that ends or counts its own tests (`t.plan(2)`, `t.end()`) has no room
 * for more.
 */
export const plantTapCanaries: PlantCanaries = (file, source, nonce) => {
  if (hasOnly(source) || /\bonly\s*:\s*true|\.only\s*\(/.test(source)) return undefined;
  if (/^\w+\.(?:plan|end|bailout)\s*\(/m.test(source)) return undefined;
  const { pass, fails } = plantedNames(nonce);
  const [raise, equal, deep] = fails;
  const t = `tap_${nonce}`;
  const imports = isModule(file, source)
    ? `import ${t} from 'tap';`
    : `const ${t} = require('tap');`;
  const code = `
;
${imports}
${t}.test(${JSON.stringify(pass)}, (t) => { ${LANGUAGE_CHECK} t.equal(1, 1); t.strictSame({ a: [1] }, { a: [1] }); t.end(); });
${t}.test(${JSON.stringify(raise)}, () => { throw new Error('planted'); });
${t}.test(${JSON.stringify(equal)}, (t) => { t.equal(1, 2); t.end(); });
${t}.test(${JSON.stringify(deep)}, (t) => { t.strictSame({ a: [1, 2] }, { a: [1, 3] }); t.end(); });
`;
  return planted(file, source, code, nonce);
};
