import { LANGUAGE_CHECK, plantImported } from '../javascript/canaries.ts';

/** See tape/canaries.ts: ava's assertions tell the test, so the failing tests are the check. */
export const plantAvaCanaries = plantImported('ava', {
  pass: `(t) => { ${LANGUAGE_CHECK} t.is(1, 1); t.deepEqual({ a: [1] }, { a: [1] }); }`,
  raise: "() => { throw new Error('planted'); }",
  equal: '(t) => { t.is(1, 2); }',
  deep: 'async (t) => { await null; t.deepEqual({ a: [1, 2] }, { a: [1, 3] }); }',
});
