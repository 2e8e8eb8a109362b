import { posix } from 'node:path';
import type { PlantCanaries } from '../framework.ts';

/** Into the one class of a Java file, behind its own members. */
export const plantJunitCanaries: PlantCanaries = (file, source, nonce) => {
  if (!file.endsWith('.java')) return undefined;
  const own = posix.basename(file, '.java');
  const classes = [
    ...source.matchAll(
      /^(?:(?:public|final|abstract|sealed)[ \t]+)*(?:class|interface|enum|record)[ \t]+(\w+)/gm,
    ),
  ];
  const end = source.trimEnd().lastIndexOf('}');
  if (classes.length !== 1 || classes[0]?.[1] !== own || end < 0) return undefined;
  const dialect = dialectOf(source);
  if (!dialect) return undefined;
  const { test, assertions } = dialect;
  const name = (letter: string): string => `prime_${nonce}_${letter}`;
  const code = `
  ${test} public void ${name('a')}() {
    Runnable[] works = {
      () -> ${assertions}.assertEquals(1, 2),
      () -> ${assertions}.assertEquals("a", "b"),
      () -> ${assertions}.assertTrue(false),
      () -> ${assertions}.assertFalse(true),
      () -> ${assertions}.assertNotNull(null),
      () -> ${assertions}.assertSame(new Object(), new Object()),
      () -> ${assertions}.fail("x"),
    };
    for (Runnable work : works) {
      boolean threw = false;
      try {
        work.run();
      } catch (AssertionError error) {
        threw = true;
      }
      if (!threw) throw new IllegalStateException("an assertion does not throw");
    }
  }

  ${test} public void ${name('b')}() {
    throw new IllegalStateException("planted");
  }

  ${test} public void ${name('c')}() {
    ${assertions}.assertEquals(java.util.List.of(1, 2), java.util.List.of(1, 3));
  }

  ${test} public void ${name('d')}() {
    throw new AssertionError("planted");
  }
`;
  const id = (letter: string): string => `${file}::${name(letter)}`;
  return {
    source: source.slice(0, end) + code + source.slice(end),
    mustPass: [id('a')],
    mustFail: ['b', 'c', 'd'].map(id),
  };
};

function dialectOf(
  source: string,
): { readonly test: string; readonly assertions: string } | undefined {
  if (/^import\s+(?:static\s+)?org\.junit\.jupiter\./m.test(source)) {
    return { test: '@org.junit.jupiter.api.Test', assertions: 'org.junit.jupiter.api.Assertions' };
  }
  if (/^import\s+(?:static\s+)?org\.junit\./m.test(source)) {
    return { test: '@org.junit.Test', assertions: 'org.junit.Assert' };
  }
  return undefined;
}
