import type { PlantCanaries } from '../framework.ts';

/**
 * The planted code reaches everything the way an ordinary test file does, so that whatever the code
 * under test has patched is patched for it as well. One test must pass: it checks that each
 * assertion still throws, by plain JavaScript. The others must fail, in the ways tests fail.
 */
export const plantNodeTestCanaries: PlantCanaries = (file, source, nonce) => {
  const pass = `prime ${nonce} a`;
  const fails = ['b', 'c', 'd', 'e'].map((letter) => `prime ${nonce} ${letter}`);
  const code = `
;(async () => {
  const [t, a, s] = await Promise.all([import('node:test'), import('node:assert'), import('node:assert/strict')]);
  const test = t.test, assert = a.default, strict = s.default;
  const throwing = (work) => { let threw = false; try { work(); } catch (error) { threw = error instanceof Error && error.code === 'ERR_ASSERTION'; } if (!threw) throw new Error('an assertion does not throw'); };
  test(${JSON.stringify(pass)}, async () => {
    for (const f of [() => assert(false), () => assert.ok(0), () => assert.equal(1, 2), () => assert.notEqual(1, 1), () => assert.strictEqual(1, 2), () => assert.notStrictEqual(1, 1), () => assert.deepEqual({ a: 1 }, { a: 2 }), () => assert.deepStrictEqual([1], [2]), () => assert.notDeepStrictEqual([1], [1]), () => assert.match('a', /b/), () => assert.throws(() => {}), () => assert.doesNotThrow(() => { throw new Error('x'); }), () => assert.fail('x'), () => strict.equal(1, 2), () => strict.deepEqual({ a: [1] }, { a: [2] }), () => strict(false), () => a.equal(1, 2), () => a.strictEqual('a', 'b'), () => a.deepStrictEqual({ a: 1 }, { a: 2 })]) throwing(f);
    let rejected = false;
    try { await assert.rejects(Promise.resolve(1)); } catch { rejected = true; }
    if (!rejected) throw new Error('assert.rejects does not reject');
    if (1 === 2 || !Object.is(NaN, NaN) || Object.is(0, -0) || [1, 2].join() !== '1,2' || JSON.stringify({ a: [1] }) !== '{"a":[1]}') throw new Error('the language was changed');
  });
  test(${JSON.stringify(fails[0])}, () => { throw new Error('planted'); });
  test(${JSON.stringify(fails[1])}, () => { strict.equal(1, 2); });
  test(${JSON.stringify(fails[2])}, async () => { await null; strict.deepEqual({ a: [1, 2] }, { a: [1, 3] }); });
  test(${JSON.stringify(fails[3])}, (context, done) => { done(new Error('planted')); });
})();
`;
  const id = (name: string): string => `${file}::${name}`;
  return { source: source + code, mustPass: [id(pass)], mustFail: fails.map(id) };
};
