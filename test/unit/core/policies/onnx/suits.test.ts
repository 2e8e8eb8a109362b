import { expect, it } from 'vitest';
import { whyNotSuited } from '../../../../../src/core/policies/onnx/suits.ts';

/** One token per character, so that sizes can be seen. */
const tokenizer = { encodeText: (text: string) => [...text].map((_, at) => at) };
const manifest = {
  name: 'nano',
  contextTokens: 1_000,
  handles: { extensions: ['.js', '.mjs'], largestFileTokens: 500 },
};
const why = (testFile: string, sources: Readonly<Record<string, number>>, opening = 100) =>
  whyNotSuited(manifest, tokenizer, {
    testFile,
    opening: 'x'.repeat(opening),
    sources: Object.entries(sources).map(([path, size]) => ({ path, text: 'y'.repeat(size) })),
  });

it('takes what is small and in its language', () => {
  expect(why('test/a.test.js', { 'src/a.js': 400, 'src/b.mjs': 500 })).toBeUndefined();
});

it('says which file is in another language', () => {
  expect(why('tests/test_a.py', {})).toBe(
    'nano works on .js, .mjs only, and this is about tests/test_a.py',
  );
  expect(why('test/a.test.js', { 'src/a.ts': 10 })).toContain('and this is about src/a.ts');
});

it('says that it cannot see what is tested', () => {
  expect(why('test/a.test.js', {})).toBe(
    'nano needs a test that imports its module by a relative path, and test/a.test.js imports none',
  );
});

it('says what is too large, a file or all together', () => {
  expect(why('a.test.js', { 'a.js': 501 })).toBe(
    'nano reads files of up to 500 of its tokens, and a.js has 501',
  );
  expect(why('a.test.js', { 'a.js': 500 }, 201)).toBe(
    'nano reads 1000 tokens in all, and the failure with a.js needs 1001',
  );
});
