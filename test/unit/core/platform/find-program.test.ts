import { chmod, mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { findProgram } from '../../../../src/core/platform/find-program.ts';
import { tempFolder, writeFiles } from '../../../support/temp.ts';

test('a program is the first on PATH that is a file which may be run', async () => {
  const root = await tempFolder();
  await writeFiles(root, { 'plain/tool': '', 'good/tool': '', 'later/tool': '' });
  await mkdir(join(root, 'folder/tool'), { recursive: true });
  for (const name of ['good', 'later']) await chmod(join(root, name, 'tool'), 0o755);
  const at = (...names: readonly string[]) => ({
    PATH: names.map((name) => join(root, name)).join(delimiter),
  });
  expect(await findProgram('tool', at('none', 'folder', 'good', 'later'))).toBe(
    join(root, 'good/tool'),
  );
  expect(await findProgram('tool', at('folder', 'none'))).toBeUndefined();
  expect(await findProgram('tool', {})).toBeUndefined();
  expect(await findProgram('tool', { PATH: `.${delimiter}relative` })).toBeUndefined();
});
