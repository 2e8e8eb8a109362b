import { expect, test } from 'vitest';
import { shellQuote } from '../../../../src/core/platform/shell-quote.ts';
import { stateFolder } from '../../../../src/core/platform/state-folder.ts';

test.each([
  ['plain/path-1.2_x', 'plain/path-1.2_x'],
  ['', "''"],
  ['a b', "'a b'"],
  ["it's", "'it'\\''s'"],
  ['$(x) `y` "z" \\', `'$(x) \`y\` "z" \\'`],
  ['new\nline', "'new\nline'"],
  ['~user', "'~user'"],
  ['a{b,c}', "'a{b,c}'"],
])('%j becomes %s', (text, quoted) => {
  expect(shellQuote(text)).toBe(quoted);
});

test('the state folder can be moved', () => {
  expect(stateFolder({ PRIME_AGENT_HOME: '/elsewhere' })).toBe('/elsewhere');
  expect(stateFolder({ PRIME_AGENT_HOME: '' })).toMatch(/prime-agent/);
});
