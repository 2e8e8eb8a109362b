import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createOnnxEngine } from '../../src/core/policies/onnx/engine.ts';
import { NATIVE_SWITCH } from '../../src/core/policies/onnx/protocol.ts';
import { decodeCases, SMALL_MODEL, SMALL_SHAPE } from '../support/onnx.ts';
import { e2eEnvironment } from './support/environment.ts';

/** The installed extension: no folder above it has any packages. */
async function installed(): Promise<string> {
  const { extensions } = e2eEnvironment();
  const name = (await readdir(extensions)).find((entry) =>
    /^prime-agent\.prime-agent-/.test(entry),
  );
  if (name === undefined) throw new Error(`Prime Agent is not installed in ${extensions}.`);
  return join(extensions, name);
}

const cases = await decodeCases();

describe.each([
  { runtime: 'native', env: process.env },
  { runtime: 'wasm', env: { ...process.env, [NATIVE_SWITCH]: 'off' } },
])('the $runtime runtime', ({ runtime, env }) => {
  test.each([
    { name: 'this Node', node: process.execPath },
    { name: "VS Code's Node", node: e2eEnvironment().vscode.node },
  ])('of the installed extension decodes like PyTorch in $name', async ({ node }) => {
    const [given] = cases;
    if (given === undefined) throw new Error('no case');
    const workerFile = join(await installed(), 'dist', 'onnx-worker.js');
    const engine = createOnnxEngine({ workerFile, node, env });
    try {
      const model = await engine.open(SMALL_MODEL, SMALL_SHAPE);
      const { ids } = await model.generate({
        session: 0,
        ids: given.prompt,
        maxTokens: given.greedy.length,
        stopId: -1,
        seed: 0,
        sampling: { temperature: 0, topP: 1, topK: -1 },
        signal: new AbortController().signal,
      });
      expect(ids).toEqual(given.greedy);
      expect(engine.status().runtime).toBe(runtime);
    } finally {
      await engine.close();
    }
  });
});

test('the entry of the installed extension loads without the packages of the checkout', async () => {
  const entry = join(await installed(), 'dist', 'extension.js');
  // `vscode` exists in the editor only: everything before it must resolve.
  const script = `await import(${JSON.stringify(entry)}).catch((error) => console.log(error.message))`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    script,
  ]);
  expect(stdout).toMatch(/Cannot find package 'vscode'/);
});
