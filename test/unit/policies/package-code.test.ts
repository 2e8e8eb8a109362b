import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { evaluatedPackages, packageCode } from '../../../policies/make/package-code.ts';
import { tempFolder } from '../../support/temp.ts';

test('packages that are measured with are left out, wherever they are installed; the order is always the same', async () => {
  const folder = await tempFolder('prime-agent-packages-');
  const files = [
    'send/index.js',
    'sender/index.js',
    'sender/lib/send/own.mjs',
    'sender/node_modules/send/lib/a.js',
    'sender/node_modules/other/a.cjs',
    '@scope/send/index.js',
    '@scope/kept/node_modules/@own/left/index.js',
    '@own/left/index.js',
    'other/small.min.js',
    'other/readme.md',
  ];
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), `// ${file}\n`);
  }
  await writeFile(join(folder, 'other/huge.js'), 'x'.repeat(400_001));
  const found: string[] = [];
  for await (const { path } of packageCode(folder, new Set(['send', '@own/left'])))
    found.push(path);
  expect(found).toEqual([
    'sender/index.js',
    '@scope/send/index.js',
    'sender/node_modules/other/a.cjs',
    'sender/lib/send/own.mjs',
  ]);
});

test('the packages of this repository that are measured with are known by their tasks', async () => {
  expect([...(await evaluatedPackages('policies/packages'))].sort()).toEqual([
    'forwarded',
    'pino-std-serializers',
    'send',
  ]);
});
