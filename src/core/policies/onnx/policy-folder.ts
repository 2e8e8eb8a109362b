import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { isErrno } from '../../snapshot/errors.ts';
import type { DecodeShape } from './protocol.ts';
import { createPolicyTokenizer, type PolicyTokenizer } from './tokenizer.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a sha256 (64 hexadecimal digits)');

const samplingSchema = z.strictObject({
  /** 0: always the most likely token. */
  temperature: z.number().min(0).max(10),
  topP: z.number().gt(0).max(1).default(1),
  /** -1: no limit. */
  topK: z.int().min(-1).default(-1),
});

/** policy.json: what the policy is and what it was made for. */
export const policyManifestSchema = z.strictObject({
  format: z.literal(1),
  name: z.string().min(1).max(100),
  version: z
    .string()
    .regex(/^policy-v\d+$/, 'must look like policy-v3')
    .optional(),
  /** Of the scaffold that it was trained for (core/fix/scaffold.ts). */
  scaffoldHash: sha256,
  /** Largest prompt plus reply. */
  contextTokens: z.int().min(16),
  /** `omitted`: the system message is the same for every attempt, and it was trained without it. */
  systemMessage: z.enum(['omitted', 'included']),
  sampling: samplingSchema,
  /** Each reply is one of a closed set (replies/decision.ts); undefined: it writes freely. */
  replies: z
    .strictObject({
      from: z.literal('known-edits'),
      priorPower: z.number().min(0).max(10),
      mostEdits: z.int().min(1),
      byScores: z.number().min(0).max(1).optional(),
      scoresPower: z.number().min(0).max(100).optional(),
    })
    .optional(),
  /** What it can work on. */
  handles: z.strictObject({
    /** With the dot. */
    extensions: z.array(z.string().regex(/^\.[\w.]+$/)).min(1),
    largestFileTokens: z.int().min(1),
  }),
  /** How it was made and how well it did: for people and reports. */
  evaluation: z.record(z.string(), z.unknown()).optional(),
});

export type PolicyManifest = z.output<typeof policyManifestSchema>;

/** export.json, written by prime_learner/decode_graph.py. */
const exportSchema = z.looseObject({
  version: z.literal(2),
  vocabulary: z.int().min(1),
  layers: z.int().min(1),
  heads: z.int().min(1),
  kv_heads: z.int().min(1),
  head_size: z.int().min(1),
  context: z.int().min(1),
  /** Of the weights' header, which the graph refers into. */
  weights_header: sha256,
  /** Names in this folder, nothing else. */
  files: z.record(z.string().regex(/^[\w.-]+$/), sha256),
});

/** Must be in export.json with their sha256. Whatever else it names is checked too. */
const REQUIRED = ['config.json', 'model.onnx', 'model.safetensors'] as const;

/** A folder whose files are whole and fit each other. */
export interface PolicyFolder {
  readonly path: string;
  readonly manifest: PolicyManifest;
  readonly shape: DecodeShape;
  readonly tokenizer: PolicyTokenizer;
  /** sha256 of model.safetensors. */
  readonly weightsHash: string;
}

export type PolicyFolderResult =
  | { readonly kind: 'folder'; readonly folder: PolicyFolder }
  | { readonly kind: 'refused'; readonly reason: string; readonly remedy: string };

const AGAIN = 'Get the folder again, or make it again with the script that made it.';

/**
 * Reads a policy folder and checks it: every file there and unchanged (sha256), a known format, made
 * for this scaffold. Never rejects for what a folder may hold.
 *
 * @param scaffoldHash of the running scaffold; undefined: any is taken (for making and measuring)
 */
export async function readPolicyFolder(
  path: string,
  scaffoldHash: string | undefined,
): Promise<PolicyFolderResult> {
  try {
    return { kind: 'folder', folder: await read(path, scaffoldHash) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { kind: 'refused', reason: error.message, remedy: error.remedy };
  }
}

/** Writes policy.json into a folder that the learner exported. */
export async function writePolicyManifest(path: string, manifest: PolicyManifest): Promise<void> {
  const checked = policyManifestSchema.parse(manifest);
  await writeFile(join(path, 'policy.json'), `${JSON.stringify(checked, null, 2)}\n`);
}

class Refusal extends Error {
  readonly remedy: string;
  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

async function read(path: string, scaffoldHash: string | undefined): Promise<PolicyFolder> {
  const manifest = await readManifest(path);
  if (scaffoldHash !== undefined && manifest.scaffoldHash !== scaffoldHash) {
    throw new Refusal(
      `The policy ${manifest.name} in ${path} was trained for other tools or other prompts (scaffold ${short(manifest.scaffoldHash)}; this version has ${short(scaffoldHash)}).`,
      'Use a policy that was made for this version, or the version of prime-agent that it was made for.',
    );
  }
  const exported = await readJson(path, 'export.json', exportSchema);
  const unlisted = REQUIRED.find((name) => exported.files[name] === undefined);
  if (unlisted !== undefined) {
    throw new Refusal(`${join(path, 'export.json')} does not list ${unlisted}.`, AGAIN);
  }
  for (const [name, expected] of Object.entries(exported.files)) {
    await checkFile(path, name, expected);
  }
  if ((await headerHash(join(path, 'model.safetensors'))) !== exported.weights_header) {
    throw new Refusal(
      `The graph in ${join(path, 'model.onnx')} was made for weights of another layout than those beside it.`,
      'Export the policy again: python -m prime_learner.decode_graph FOLDER.',
    );
  }
  if (manifest.contextTokens > exported.context) {
    throw new Refusal(
      `${join(path, 'policy.json')} promises ${manifest.contextTokens} tokens of context, the model has ${exported.context}.`,
      'Correct contextTokens in policy.json.',
    );
  }
  return {
    path,
    manifest,
    shape: {
      vocabulary: exported.vocabulary,
      layers: exported.layers,
      heads: exported.heads,
      kvHeads: exported.kv_heads,
      headSize: exported.head_size,
    },
    tokenizer: await readTokenizer(path, exported.vocabulary),
    weightsHash: exported.files['model.safetensors'] ?? '',
  };
}

async function readManifest(path: string): Promise<PolicyManifest> {
  if (!(await exists(path))) {
    throw new Refusal(`There is no folder ${path}.`, 'Check the path.');
  }
  if (!(await exists(join(path, 'policy.json')))) {
    throw new Refusal(
      `${path} holds no policy: policy.json is missing.`,
      'Name a folder with an exported policy (docs/onnx.md says what belongs into it).',
    );
  }
  const raw = await readJson(path, 'policy.json', z.looseObject({ format: z.unknown() }));
  if (raw.format !== 1) {
    throw new Refusal(
      `${join(path, 'policy.json')} has format ${JSON.stringify(raw.format)}; this version reads format 1.`,
      'Update prime-agent, or use a policy of format 1.',
    );
  }
  return readJson(path, 'policy.json', policyManifestSchema);
}

async function readJson<Schema extends z.ZodType>(
  path: string,
  name: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  const file = join(path, name);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) throw new Refusal(`${file} is missing.`, AGAIN);
    if (!(error instanceof SyntaxError)) throw unreadable(file, error);
    throw new Refusal(`${file} is not JSON.`, AGAIN);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join('.') ?? '';
  throw new Refusal(`${file} is not as it should be: ${place}: ${issue?.message}`, AGAIN);
}

async function checkFile(path: string, name: string, expected: string): Promise<void> {
  const file = join(path, name);
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(file), hash);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) throw new Refusal(`${file} is missing.`, AGAIN);
    throw unreadable(file, error);
  }
  const actual = hash.digest('hex');
  if (actual === expected) return;
  throw new Refusal(
    `${file} is damaged or was changed: its sha256 is ${short(actual)}, export.json says ${short(expected)}.`,
    AGAIN,
  );
}

/** sha256 of the first bytes of a safetensors file: length of the header (8 bytes) and header. */
async function headerHash(file: string): Promise<string | undefined> {
  const handle = await open(file);
  try {
    const size = Buffer.alloc(8);
    await handle.read(size, 0, 8, 0);
    const length = Number(size.readBigUInt64LE());
    if (length > 10_000_000) return undefined;
    const header = Buffer.alloc(8 + length);
    await handle.read(header, 0, header.length, 0);
    return createHash('sha256').update(header).digest('hex');
  } finally {
    await handle.close();
  }
}

async function readTokenizer(path: string, vocabulary: number): Promise<PolicyTokenizer> {
  const any = z.looseObject({});
  const json = await readJson(path, 'tokenizer.json', any);
  const config = await readJson(path, 'tokenizer_config.json', any);
  const file = join(path, 'tokenizer.json');
  try {
    const tokenizer = createPolicyTokenizer(json, config);
    if (tokenizer.vocabulary === vocabulary) return tokenizer;
    throw new Error(`it has ${tokenizer.vocabulary} entries, the model ${vocabulary}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refusal(`The tokenizer in ${file} does not fit: ${reason}.`, AGAIN);
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function unreadable(file: string, error: unknown): Refusal {
  const reason = error instanceof Error ? error.message : String(error);
  return new Refusal(`${file} cannot be read: ${reason}`, 'Check its permissions.');
}

function short(hash: string): string {
  return `${hash.slice(0, 12)}…`;
}
