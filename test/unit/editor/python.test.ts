import { describe, expect, it } from 'vitest';
import { chosenPython } from '../../../src/editor/workspace/python.ts';
import { createFakeVs } from '../../support/fake-vs.ts';

async function chosen(extension?: { isActive: boolean; exports: unknown }) {
  const fake = createFakeVs({ folders: ['/w'] });
  if (extension) fake.extensions['ms-python.python'] = extension;
  return chosenPython(fake.vs, fake.vs.Uri.file('/w'));
}

const environments = {
  getActiveEnvironmentPath: (resource: { path: string }) => ({ id: '1', path: resource.path }),
  resolveEnvironment: async ({ path }: { path: string }) => ({
    executable: { uri: { fsPath: `${path}/.venv/bin/python` } },
  }),
};

describe("the Python extension's interpreter", () => {
  it('is the one of the folder', async () => {
    expect(await chosen({ isActive: true, exports: { environments } })).toBe('/w/.venv/bin/python');
  });

  it.each([
    ['not installed', undefined],
    ['not active: it is not started for this', { isActive: false, exports: { environments } }],
    ['of another version', { isActive: true, exports: { settings: {} } }],
    [
      'without an environment',
      {
        isActive: true,
        exports: { environments: { ...environments, resolveEnvironment: async () => undefined } },
      },
    ],
    [
      'broken',
      {
        isActive: true,
        exports: {
          environments: { ...environments, resolveEnvironment: () => Promise.reject(new Error()) },
        },
      },
    ],
  ])('%s: the interpreter is looked for as always', async (_, extension) => {
    expect(await chosen(extension)).toBeUndefined();
  });
});
