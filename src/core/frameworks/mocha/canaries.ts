import type { PlantCanaries } from '../framework.ts';
import {
  hasOnly,
  LANGUAGE_CHECK,
  NODE_ASSERT_CHECK,
  planted,
  plantedNames,
  THROWING,
} from '../javascript/canaries.ts';

/** See node-test/canaries.ts. The interface (bdd, tdd, qunit) is told by the globals that are there. */
export const plantMochaCanaries: PlantCanaries = (file, source, nonce) => {
  if (hasOnly(source) || /^\s*(?:module\.)?exports\s*(?:\.\w+|\[[^\]]*\])?\s*=/m.test(source))
    return undefined;
  const { pass, fails } = plantedNames(nonce);
  const [raise, equal, deep] = fails;
  const chai = /['"]chai['"]/.test(source);
  const code = `
;(() => {
  const it = globalThis.it ?? globalThis.test ?? globalThis.specify;
  it(${JSON.stringify(pass)}, async () => {
    ${THROWING}
    const a = (await import('node:assert')).default, s = (await import('node:assert/strict')).default;
    ${NODE_ASSERT_CHECK}
    for (const f of [() => s.equal(1, 2), () => s.deepEqual({ a: [1] }, { a: [2] }), () => s(false)]) throwing(f);
    ${chai ? CHAI_CHECK : ''}
    ${LANGUAGE_CHECK}
  });
  it(${JSON.stringify(raise)}, () => { throw new Error('planted'); });
  it(${JSON.stringify(equal)}, async () => { (await import('node:assert')).default.strictEqual(1, 2); });
  it(${JSON.stringify(deep)}, (done) => { done(new Error('planted')); });
})();
`;
  return planted(file, source, code, nonce);
};

const CHAI_CHECK = `const c = await import('chai');
    const { expect: e, assert: ca } = c.default ?? c;
    for (const f of [() => e(1).to.equal(2), () => e({ a: 1 }).to.deep.equal({ a: 2 }), () => e([1]).to.eql([2]), () => e(0).to.be.ok, () => e(1).to.be.true, () => e([1]).to.include(2), () => e([1]).to.have.length(2), () => e(1).to.not.equal(1), () => e(1).to.be.above(2), () => e(() => {}).to.throw(), () => ca.equal(1, 2), () => ca.strictEqual(1, 2), () => ca.deepEqual([1], [2]), () => ca.isTrue(false), () => ca(false)]) throwing(f);`;
