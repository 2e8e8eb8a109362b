import type { PlantCanaries, PlantedCanaries } from '../framework.ts';

/** Names of the planted tests; the first one must pass. */
export function plantedNames(nonce: string): {
  readonly pass: string;
  readonly fails: readonly [string, string, string];
} {
  const name = (letter: string): string => `prime ${nonce} ${letter}`;
  return { pass: name('a'), fails: [name('b'), name('c'), name('d')] };
}

export function planted(file: string, source: string, code: string, nonce: string) {
  const { pass, fails } = plantedNames(nonce);
  const id = (name: string): string => `${file}::${name}`;
  return {
    source: source + code,
    mustPass: [id(pass)],
    mustFail: fails.map(id),
  } satisfies PlantedCanaries;
}

/** For runners whose tests get what asserts as an argument; a `.only` of any of its functions counts. */
export function plantImported(
  from: string,
  bodies: Readonly<Record<'pass' | 'raise' | 'equal' | 'deep', string>>,
): PlantCanaries {
  return (file, source, nonce) => {
    if (hasOnly(source) || /\.only\s*\(/.test(source)) return undefined;
    const { pass, fails } = plantedNames(nonce);
    const [raise, equal, deep] = fails;
    const test = `test_${nonce}`;
    const imports = isModule(file, source)
      ? `import ${test} from '${from}';`
      : `const ${test} = require('${from}');`;
    const code = `
;
${imports}
${test}(${JSON.stringify(pass)}, ${bodies.pass});
${test}(${JSON.stringify(raise)}, ${bodies.raise});
${test}(${JSON.stringify(equal)}, ${bodies.equal});
${test}(${JSON.stringify(deep)}, ${bodies.deep});
`;
    return planted(file, source, code, nonce);
  };
}

/** Where only chosen tests of a file run, planted ones would not. */
export function hasOnly(source: string): boolean {
  return /\b(?:it|test|describe|suite|context|specify)\s*\.(?:\w+\.)?only\b|(?<![\w.])f(?:it|describe)\s*\(/.test(
    source,
  );
}

export function isModule(file: string, source: string): boolean {
  return !/\.cjs$/.test(file) && /^[ \t]*import\b[\s\S]*?['"]/m.test(source);
}

/** Throws where the language itself no longer says what is equal. */
export const LANGUAGE_CHECK = `if (1 === 2 || !Object.is(NaN, NaN) || Object.is(0, -0) || [1, 2].join() !== '1,2' || JSON.stringify({ a: [1] }) !== '{"a":[1]}') throw new Error('the language was changed');`;

/** Each of node's assertions must throw; `a` is the module. */
export const NODE_ASSERT_CHECK = `for (const f of [() => a.ok(0), () => a.equal(1, 2), () => a.notEqual(1, 1), () => a.strictEqual(1, 2), () => a.notStrictEqual(1, 1), () => a.deepEqual({ a: 1 }, { a: 2 }), () => a.deepStrictEqual([1], [2]), () => a.match('a', /b/), () => a.throws(() => {}), () => a.fail('x')]) throwing(f);`;

/** `throwing(f)` throws where `f` does not: by plain JavaScript, with no assertion's help. */
export const THROWING = `const throwing = (work) => { let threw = false; try { work(); } catch { threw = true; } if (!threw) throw new Error('an assertion does not throw'); };`;

/** For vitest and jest, whose `expect` is the same in what is asked of it here. */
export function expectCanaries(nonce: string, test: string, expect: string): string {
  const { pass, fails } = plantedNames(nonce);
  const [raise, equal, deep] = fails;
  return `
${test}(${JSON.stringify(pass)}, async () => {
  const e = ${expect};
  ${THROWING}
  for (const f of [() => e(1).toBe(2), () => e(1).not.toBe(1), () => e({ a: 1 }).toEqual({ a: 2 }), () => e([1]).toStrictEqual([2]), () => e(0).toBeTruthy(), () => e(1).toBeFalsy(), () => e(1).toBeUndefined(), () => e(undefined).toBeDefined(), () => e(1).toBeNull(), () => e([1]).toContain(2), () => e('a').toMatch(/b/), () => e(1).toBeGreaterThan(2), () => e(2).toBeLessThan(1), () => e(1).toBeCloseTo(2), () => e([1]).toHaveLength(2), () => e({ a: 1 }).toHaveProperty('b'), () => e({ a: 1 }).toMatchObject({ a: 2 }), () => e(() => {}).toThrow(), () => e(1).toBeInstanceOf(Error)]) throwing(f);
  let rejected = false;
  try { await e(Promise.resolve(1)).rejects.toThrow(); } catch { rejected = true; }
  if (!rejected) throw new Error('rejects does not reject');
  // Jest has dynamic import only where it runs modules.
  const a = typeof require === 'function' ? require('node:assert') : (await import('node:assert')).default;
  ${NODE_ASSERT_CHECK}
  ${LANGUAGE_CHECK}
});
${test}(${JSON.stringify(raise)}, () => { throw new Error('planted'); });
${test}(${JSON.stringify(equal)}, () => { ${expect}(1).toBe(2); });
${test}(${JSON.stringify(deep)}, async () => { await null; ${expect}({ a: [1, 2] }).toEqual({ a: [1, 3] }); });
`;
}
