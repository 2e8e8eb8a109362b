import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTreeReader } from '../../../../src/core/frameworks/inside-tree.ts';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prime-tree-'));
  await mkdir(join(folder, 'tree/src'), { recursive: true });
  await writeFile(join(folder, 'secret'), 'secret');
  await writeFile(join(folder, 'tree/src/a.js'), 'a');
  await symlink('src/a.js', join(folder, 'tree/inner.js'));
  await symlink('../secret', join(folder, 'tree/outer.js'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

it('reads what is inside, and nothing else by whatever name', async () => {
  const { readText } = openTreeReader(join(folder, 'tree'));
  expect(await readText('src/a.js')).toBe('a');
  expect(await readText('inner.js')).toBe('a');
  for (const path of ['../secret', 'outer.js', 'src', '', '..', 'missing.js', '/etc/passwd']) {
    expect(await readText(path), path).toBeUndefined();
  }
});
