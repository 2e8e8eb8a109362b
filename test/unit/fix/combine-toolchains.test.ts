import { expect, it } from 'vitest';
import { combineToolchains } from '../../../src/core/fix/combine-toolchains.ts';

it('an own command finds the programs of every framework, each folder once, the first first', () => {
  expect(
    combineToolchains([
      { path: ['/nvm/bin'], mounts: ['/nvm'], env: { A: 'node' } },
      { path: ['/w/.venv/bin', '/nvm/bin'], mounts: ['/nvm', '/py'], env: { A: 'py', B: 'py' } },
    ]),
  ).toEqual({
    path: ['/nvm/bin', '/w/.venv/bin'],
    mounts: ['/nvm', '/py'],
    env: { A: 'node', B: 'py' },
  });
});
