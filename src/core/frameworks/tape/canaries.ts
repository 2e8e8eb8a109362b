import { LANGUAGE_CHECK, plantImported } from '../javascript/canaries.ts';

/**
 * See node-test/canaries.ts. Tape's assertions do not throw, so the one test that must pass looks at
 * the language alone; the others must fail by assertions of every kind.
 */
export const plantTapeCanaries = plantImported('tape', {
  pass: `(t) => { ${LANGUAGE_CHECK} t.equal(1, 1); t.deepEqual({ a: [1] }, { a: [1] }); t.end(); }`,
  raise: "(t) => { t.fail('planted'); t.end(); }",
  equal: '(t) => { t.equal(1, 2); t.end(); }',
  deep: '(t) => { t.deepEqual({ a: [1, 2] }, { a: [1, 3] }); t.end(); }',
});
