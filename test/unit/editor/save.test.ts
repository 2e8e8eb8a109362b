import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { saveBeforeTest } from '../../../src/editor/workspace/save.ts';
import { createFakeVs } from '../../support/fake-vs.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';

async function edited(settings: Readonly<Record<string, unknown>>) {
  const root = await tempFolder();
  await writeFiles(root, { 'w/a.js': 'old', 'w2/b.js': 'old' });
  const fake = createFakeVs({ folders: [join(root, 'w'), join(root, 'w2')], settings });
  const [folder] = fake.vs.workspace.workspaceFolders ?? [];
  if (!folder) throw new Error('unreachable');
  for (const path of ['w/a.js', 'w2/b.js']) {
    Object.assign(fake.openEditor(join(root, path)), { text: 'new', isDirty: true });
  }
  await saveBeforeTest(fake.vs, folder);
  const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
  return [await read('w/a.js'), await read('w2/b.js')];
}

describe('before tests run', () => {
  it('the files of their folder are saved, and no others', async () => {
    expect(await edited({})).toEqual(['new', 'old']);
  });

  it('nothing is saved where the user has switched it off', async () => {
    expect(await edited({ 'testing.saveBeforeTest': false })).toEqual(['old', 'old']);
  });
});
