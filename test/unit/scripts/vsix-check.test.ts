import { expect, test } from 'vitest';

const module = new URL('../../../scripts/lib/vsix-check.mjs', import.meta.url).href;
const { checkFiles, ENTRY_LIMIT } = await import(/* @vite-ignore */ module);

const RUNTIME = 'dist/node_modules';
const EXPECTED = {
  target: 'linux-x64',
  native: true,
  policy: false,
  checkout: '/home/me/checkout',
};

const FINE: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    name: 'prime-agent',
    main: './dist/extension.js',
    l10n: './l10n',
  }),
  'package.nls.json': '{}',
  'l10n/bundle.l10n.de.json': '{}',
  'readme.md': 'Prime Agent',
  'changelog.md': 'Changes',
  'LICENSE.txt': 'Apache',
  'ThirdPartyNotices.txt': 'Others',
  'dist/extension.js':
    "import * as vscode from 'vscode'; import './extension/a.js'; import('./extension/b.js');",
  'dist/extension/a.js': 'export const a = 1;',
  'dist/extension/b.js': 'export const b = 2;',
  'dist/onnx-worker.js': "await import('onnxruntime-node');",
  [`${RUNTIME}/onnxruntime-node/package.json`]: '{}',
  [`${RUNTIME}/onnxruntime-node/dist/index.js`]: '',
  [`${RUNTIME}/onnxruntime-node/bin/napi-v6/linux/x64/onnxruntime_binding.node`]: '',
  [`${RUNTIME}/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1`]: '',
  [`${RUNTIME}/onnxruntime-common/dist/cjs/index.js`]: '',
  [`${RUNTIME}/onnxruntime-common/dist/esm/index.js`]: '',
  [`${RUNTIME}/onnxruntime-web/dist/ort.node.min.mjs`]: '',
  [`${RUNTIME}/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm`]: '',
};

/** `undefined` takes a file away. */
async function problems(
  changes: Readonly<Record<string, string | undefined>>,
  expected: Partial<typeof EXPECTED> = {},
): Promise<readonly string[]> {
  const files = Object.entries({ ...FINE, ...changes }).flatMap(([path, text]) =>
    text === undefined ? [] : [[path, { read: async () => Buffer.from(text) }] as const],
  );
  const checked = await checkFiles(new Map(files), { ...EXPECTED, ...expected });
  return checked.problems;
}

test('a package with everything that it needs has no problems', async () => {
  expect(await problems({})).toEqual([]);
});

test.each([
  ['dist/onnx-worker.js'],
  ['l10n/bundle.l10n.de.json'],
  ['LICENSE.txt'],
  [`${RUNTIME}/onnxruntime-node/bin/napi-v6/linux/x64/onnxruntime_binding.node`],
])('%s is missed', async (path) => {
  const named = path.startsWith('l10n') ? 'l10n' : path;
  expect(await problems({ [path]: undefined })).toEqual([`${named} is missing`]);
});

test('what the manifest refers to is missed', async () => {
  const manifest = JSON.stringify({
    main: './dist/extension.js',
    contributes: { viewsContainers: { activitybar: [{ icon: 'media/prime-agent.svg' }] } },
  });
  expect(await problems({ 'package.json': manifest })).toEqual([
    'media/prime-agent.svg is missing',
  ]);
});

test('an embedded policy is missed where it should ship', async () => {
  const some = { 'policies/nano/policy.json': '{}', 'policies/nano/config.json': '{}' };
  expect(await problems(some, { policy: true })).toEqual([
    'policies/nano/model.onnx is missing',
    'policies/nano/model.safetensors is missing',
  ]);
});

test.each([
  ['src/extension.ts'],
  ['test/e2e/fix.test.ts'],
  ['docs/e2e.md'],
  ['.env'],
  ['dist/cli.js'],
  ['dist/extension.js.map'],
  ['node_modules/zod/index.js'],
  [`${RUNTIME}/onnxruntime-node/bin/napi-v6/win32/x64/onnxruntime_binding.node`],
  [`${RUNTIME}/onnxruntime-web/dist/ort-wasm-simd-threaded.jsep.wasm`],
])('%s does not belong into it', async (path) => {
  expect(await problems({ [path]: '' })).toEqual([`${path} does not belong into it`]);
});

test.each([
  ['a static import', "import 'onnxruntime-node';", 'onnxruntime-node'],
  ['a dynamic import', "export const load = () => import('onnxruntime-web');", 'onnxruntime-web'],
  ['a call of require', "const ws = require('ws');", 'ws'],
  ['a subpath', "import 'dockerode/lib/docker.js';", 'dockerode'],
])('%s of native or server code is found, in chunks as well', async (_, code, name) => {
  expect(await problems({ 'dist/extension/b.js': code })).toEqual([
    `dist/extension/b.js imports ${name}`,
  ]);
});

test('the size counts what is loaded at once, and not what is loaded later', async () => {
  const large = `/* ${'x'.repeat(ENTRY_LIMIT)} */`;
  expect(await problems({ 'dist/extension/b.js': large })).toEqual([]);
  expect(await problems({ 'dist/extension/a.js': large })).toEqual([
    expect.stringMatching(/^dist\/extension\.js and what it imports at once have \d+ bytes/),
  ]);
});

test('a file that names the folder of the build is found', async () => {
  const code = 'const from = "/home/me/checkout/src/extension.ts";';
  expect(await problems({ 'dist/onnx-worker.js': code })).toEqual([
    'dist/onnx-worker.js names /home/me/checkout',
  ]);
});
