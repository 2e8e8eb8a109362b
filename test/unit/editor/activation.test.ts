import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/editor/contract/commands.ts';
import { createExtension } from '../../../src/editor/extension.ts';
import { createFakeContext, createFakeVs } from '../../support/fake-vs.ts';

function activate() {
  const fake = createFakeVs({ folders: ['/not/there'] });
  const { context } = createFakeContext('/not/there/extension');
  const extension = createExtension(fake.vs, context, {});
  return { fake, extension };
}

describe('activation', () => {
  it('registers every command, and does and asks nothing', () => {
    const { fake, extension } = activate();
    for (const command of COMMANDS) {
      expect(() => fake.vs.commands.registerCommand(command, () => undefined)).toThrow(
        'already exists',
      );
    }
    expect(fake.messages).toEqual([]);
    expect(fake.executed).toEqual([]);
    expect(fake.progress).toEqual([]);
    expect(fake.log).toEqual([]);
    expect(fake.statusBar.text).toBe('$(wand) edit-search');
    extension.dispose();
  });

  it('leaves nothing behind: it can be activated again in the same editor', async () => {
    const { fake, extension } = activate();
    await extension.stop();
    extension.dispose();
    const { context } = createFakeContext('/not/there/extension');
    createExtension(fake.vs, context, {}).dispose();
  });
});
