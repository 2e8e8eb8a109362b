import { describe, expect, it } from 'vitest';
import { chooseFolder } from '../../../src/editor/workspace/folder.ts';
import { createFakeVs, type FakeVsOptions } from '../../support/fake-vs.ts';

const choose = (options: FakeVsOptions) => chooseFolder(createFakeVs(options).vs);

describe('the folder of a command', () => {
  it.each([
    ['no folder', {}, /^No folder is open\. Open the folder/, 'Open Folder…'],
    [
      'a folder that is not trusted',
      { folders: ['/work'], trusted: false },
      /only in folders that you trust/,
      'Manage Workspace Trust',
    ],
    [
      'a virtual workspace',
      { folders: ['vscode-vfs://github/a/b'] },
      /no folder on disk \(vscode-vfs\)\. Clone the repository/,
      'Clone Repository…',
    ],
  ] as const)('%s: says why, with the next step', async (_, options, text, action) => {
    expect(await choose(options)).toMatchObject({
      kind: 'refused',
      text: expect.stringMatching(text),
      actions: [{ title: action }],
    });
  });

  it('is the only one, without a question', async () => {
    expect(await choose({ folders: ['/a/one'] })).toMatchObject({
      kind: 'folder',
      folder: { name: 'one' },
    });
  });

  it("is chosen from several, the active editor's first; virtual ones are left out", async () => {
    const fake = createFakeVs({ folders: ['/a/one', 'memfs://x/v', '/a/two'] });
    const seen: unknown[] = [];
    fake.user.pick = (items) => {
      seen.push(items.map(({ label }) => label));
      return items.slice(0, 1);
    };
    expect(await chooseFolder(fake.vs)).toMatchObject({ folder: { name: 'one' } });
    fake.documents.push({
      uri: fake.vs.Uri.file('/a/two/x.js') as never,
      text: '',
      isDirty: false,
    });
    fake.openEditor('/a/two/x.js');
    expect(await chooseFolder(fake.vs)).toMatchObject({ folder: { name: 'two' } });
    expect(seen).toEqual([
      ['one', 'two'],
      ['two', 'one'],
    ]);
  });

  it('is the one of the given file; a file outside of all of them is refused', async () => {
    const { vs } = createFakeVs({ folders: ['/a/one', '/a/two'] });
    expect(await chooseFolder(vs, vs.Uri.file('/a/two/test/x.js'))).toMatchObject({
      folder: { name: 'two' },
    });
    expect(await chooseFolder(vs, vs.Uri.file('/b/x.js'))).toMatchObject({
      kind: 'refused',
      text: expect.stringContaining('/b/x.js is not in a folder of this workspace'),
    });
  });

  it('is none when the list is closed', async () => {
    expect(await choose({ folders: ['/a/one', '/a/two'] })).toEqual({ kind: 'none' });
  });
});
