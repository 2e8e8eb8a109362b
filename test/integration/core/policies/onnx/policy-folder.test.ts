import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPolicyFolder } from '../../../../../src/core/policies/onnx/policy-folder.ts';
import { SMALL_MANIFEST, smallPolicy } from '../../../../support/onnx.ts';

const SCAFFOLD = SMALL_MANIFEST.scaffoldHash;

async function edit(folder: string, name: string, change: (value: never) => unknown) {
  const file = join(folder, name);
  await writeFile(file, JSON.stringify(change(JSON.parse(await readFile(file, 'utf8')) as never)));
}

test('a whole folder is read', async () => {
  const read = await readPolicyFolder(await smallPolicy(), SCAFFOLD);
  expect(read).toMatchObject({
    kind: 'folder',
    folder: {
      manifest: SMALL_MANIFEST,
      shape: { vocabulary: 400, layers: 2, heads: 4, kvHeads: 2, headSize: 8 },
      weightsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  });
});

test('without a scaffold to compare with, any is taken', async () => {
  expect(await readPolicyFolder(await smallPolicy(), undefined)).toMatchObject({ kind: 'folder' });
});

const AGAIN = 'Get the folder again, or make it again with the script that made it.';

const refused: [string, (folder: string) => Promise<unknown>, string, string][] = [
  [
    'damaged weights',
    (folder) => appendFile(join(folder, 'model.safetensors'), 'x'),
    'DIR/model.safetensors is damaged or was changed: its sha256 is HASH, export.json says HASH.',
    AGAIN,
  ],
  [
    'a changed tokenizer',
    (folder) => appendFile(join(folder, 'tokenizer.json'), ' '),
    'DIR/tokenizer.json is damaged or was changed: its sha256 is HASH, export.json says HASH.',
    AGAIN,
  ],
  ['no graph', (folder) => rm(join(folder, 'model.onnx')), 'DIR/model.onnx is missing.', AGAIN],
  [
    'no export.json',
    (folder) => rm(join(folder, 'export.json')),
    'DIR/export.json is missing.',
    AGAIN,
  ],
  [
    'no policy.json',
    (folder) => rm(join(folder, 'policy.json')),
    'DIR holds no policy: policy.json is missing.',
    'Name a folder with an exported policy (docs/onnx.md says what belongs into it).',
  ],
  [
    'no folder',
    (folder) => rm(folder, { recursive: true }),
    'There is no folder DIR.',
    'Check the path.',
  ],
  [
    'a policy.json that is no JSON',
    (folder) => writeFile(join(folder, 'policy.json'), '{'),
    'DIR/policy.json is not JSON.',
    AGAIN,
  ],
  [
    'a later format',
    (folder) => edit(folder, 'policy.json', (value: object) => ({ ...value, format: 2 })),
    'DIR/policy.json has format 2; this version reads format 1.',
    'Update prime-agent, or use a policy of format 1.',
  ],
  [
    'an unknown setting',
    (folder) => edit(folder, 'policy.json', (value: object) => ({ ...value, colour: 'red' })),
    'DIR/policy.json is not as it should be: : Unrecognized key: "colour"',
    AGAIN,
  ],
  [
    'more context than the model has',
    (folder) => edit(folder, 'policy.json', (value: object) => ({ ...value, contextTokens: 600 })),
    'DIR/policy.json promises 600 tokens of context, the model has 512.',
    'Correct contextTokens in policy.json.',
  ],
  [
    'another scaffold',
    (folder) =>
      edit(folder, 'policy.json', (value: object) => ({ ...value, scaffoldHash: 'b'.repeat(64) })),
    'The policy small in DIR was trained for other tools or other prompts (scaffold HASH; this version has HASH).',
    'Use a policy that was made for this version, or the version of prime-agent that it was made for.',
  ],
  [
    'an export of an older kind',
    (folder) => edit(folder, 'export.json', (value: object) => ({ ...value, version: 1 })),
    'DIR/export.json is not as it should be: version: Invalid input: expected 2',
    AGAIN,
  ],
  [
    'a file that export.json does not know',
    (folder) =>
      edit(folder, 'export.json', (value: { files: Record<string, string> }) => {
        const { 'config.json': _, ...files } = value.files;
        return { ...value, files };
      }),
    'DIR/export.json does not list config.json.',
    AGAIN,
  ],
  [
    'a graph for weights of another layout',
    (folder) =>
      edit(folder, 'export.json', (value: object) => ({
        ...value,
        weights_header: 'c'.repeat(64),
      })),
    'The graph in DIR/model.onnx was made for weights of another layout than those beside it.',
    'Export the policy again: python -m prime_learner.decode_graph FOLDER.',
  ],
  [
    'a tokenizer of another size',
    (folder) => edit(folder, 'export.json', (value: object) => ({ ...value, vocabulary: 401 })),
    'The tokenizer in DIR/tokenizer.json does not fit: it has 400 entries, the model 401.',
    AGAIN,
  ],
];

test.each(refused)('refused: %s', async (_, damage, reason, remedy) => {
  const folder = await smallPolicy();
  await damage(folder);
  const read = await readPolicyFolder(folder, SCAFFOLD);
  if (read.kind !== 'refused') throw new Error('it was taken');
  const shown = read.reason.replaceAll(folder, 'DIR').replace(/[0-9a-f]{12}…/g, 'HASH');
  expect({ reason: shown, remedy: read.remedy }).toEqual({ reason, remedy });
});
