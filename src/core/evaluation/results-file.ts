import { createHash } from 'node:crypto';
import { readFile, truncate } from 'node:fs/promises';
import { z } from 'zod';
import { openLineFile } from '../trajectories/line-file.ts';
import { outcomeSchema } from '../trajectories/outcome.ts';
import { budgetsSchema, policyDescriptionSchema } from '../trajectories/schema.ts';

/**
 * The results of an evaluation, JSON Lines: a header with everything that a repetition needs, then
 * one line per attempt as it ends. Readers accept older minor versions.
 */
export const EVALUATION_VERSION = '1.0';

const FORMAT = 'prime-agent-evaluation';
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();

const headerSchema = z.strictObject({
  type: z.literal('header'),
  format: z.literal(FORMAT),
  version: z.string(),
  startedAt: z.iso.datetime(),
  agentVersion: z.string(),
  policy: policyDescriptionSchema,
  /** Of the weights or the behaviour where the policy has one, else of its description. */
  policyHash: hash,
  scaffoldHash: z.string(),
  tasks: z.strictObject({
    /** sha256 over the sorted ids of the tasks that were chosen. */
    hash,
    count: z.int().positive(),
    /** Part of the set, or `all`. */
    split: z.string(),
  }),
  settings: z.strictObject({
    /** Per task. */
    attempts: z.int().positive(),
    seed: count,
    rules: z.enum(['strict', 'lenient']),
    budgets: budgetsSchema,
    sandbox: z.enum(['local', 'docker', 'none']),
  }),
});

const recordSchema = z.strictObject({
  type: z.literal('attempt'),
  task: hash,
  /** From 0. */
  attempt: count,
  seed: count,
  outcome: outcomeSchema,
  reason: z.string(),
  turns: count,
  edits: count,
  testRuns: count,
  tries: count,
  promptTokens: count,
  completionTokens: count,
  seconds: z.number().nonnegative(),
  /** The first go was invalid (infrastructure); this is the second. */
  repeated: z.boolean(),
});

const lineSchema = z.discriminatedUnion('type', [headerSchema, recordSchema]);

export type EvaluationHeader = z.output<typeof headerSchema>;
export type AttemptRecord = z.output<typeof recordSchema>;

export interface EvaluationResults {
  readonly header: EvaluationHeader;
  /** The last one of each attempt: one that was invalid may have been made again. */
  readonly records: readonly AttemptRecord[];
}

/** What is wrong with a file of results, with its place and what to do. */
export class ResultsFileError extends Error {
  override readonly name = 'ResultsFileError';
}

export function evaluationHeader(
  given: Omit<EvaluationHeader, 'type' | 'format' | 'version' | 'startedAt' | 'policyHash'>,
): EvaluationHeader {
  const { policy } = given;
  return headerSchema.parse({
    type: 'header',
    format: FORMAT,
    version: EVALUATION_VERSION,
    startedAt: new Date().toISOString(),
    ...given,
    policyHash: /^[0-9a-f]{64}$/.test(policy.hash ?? '') ? policy.hash : sha256(policy),
  });
}

/** The same for the same tasks, in whatever order they come. */
export function taskSetHash(ids: readonly string[]): string {
  return sha256([...ids].sort());
}

function sha256(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Reads results; a last line that a crash has cut is left out. Throws `ResultsFileError`. */
export async function readResults(file: string): Promise<EvaluationResults> {
  return (await readWhole(file)).results;
}

async function readWhole(file: string): Promise<{ results: EvaluationResults; bytes: number }> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new ResultsFileError(
      `The results cannot be read: ${why}. Name a file that \`prime-agent eval\` wrote.`,
    );
  });
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  let header: EvaluationHeader | undefined;
  const records = new Map<string, AttemptRecord>();
  for (const [at, source] of whole.split('\n').slice(0, -1).entries()) {
    const line = readLine(source, `${file}, line ${at + 1}`);
    if (line.type === 'attempt') records.set(`${line.task} ${line.attempt}`, line);
    else if (at === 0) header = line;
    else throw new ResultsFileError(`${file}, line ${at + 1}: a second header. ${AGAIN}`);
  }
  if (header === undefined) {
    throw new ResultsFileError(
      `${file} holds no results of an evaluation: it does not begin with a header. Name another file.`,
    );
  }
  return {
    results: { header, records: [...records.values()] },
    bytes: Buffer.byteLength(whole),
  };
}

const AGAIN = 'Evaluate again into a new file.';

function readLine(source: string, where: string): z.output<typeof lineSchema> {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    throw new ResultsFileError(`${where} is not JSON: the file is damaged. ${AGAIN}`);
  }
  const version = versionOf(value);
  if (version !== undefined && version.split('.')[0] !== EVALUATION_VERSION.split('.')[0]) {
    throw new ResultsFileError(
      `${where}: the results have version ${version}, this program reads ${EVALUATION_VERSION}. ${AGAIN}`,
    );
  }
  const parsed = lineSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const why = issue ? `${issue.path.join('.') || 'line'}: ${issue.message}` : 'unknown';
  throw new ResultsFileError(
    `${where} is no line of results (${why}). Name a file that \`prime-agent eval\` wrote.`,
  );
}

function versionOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('version' in value)) return undefined;
  return String(value.version);
}

/** An open file of results. */
export interface ResultsWriter {
  /** What an earlier, interrupted run has left. */
  readonly done: readonly AttemptRecord[];
  append(record: AttemptRecord): Promise<void>;
  close(): Promise<void>;
}

/**
 * Begins a file of results, or goes on with one of the same evaluation. Throws `ResultsFileError`
 * when the file holds something else, so that nothing is overwritten.
 */
export async function openResults(file: string, header: EvaluationHeader): Promise<ResultsWriter> {
  const earlier = await readFile(file).then(
    (bytes) => (bytes.length > 0 ? readWhole(file) : undefined),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw new ResultsFileError(`The results cannot be read: ${error.message}.`);
    },
  );
  if (earlier) {
    const different = differences(earlier.results.header, header);
    if (different.length > 0) {
      throw new ResultsFileError(
        `${file} holds the results of another evaluation (different: ${different.join(', ')}). Name another file with --out, or remove it.`,
      );
    }
    await truncate(file, earlier.bytes);
  }
  const lines = await openLineFile(file, 'append', `the results ${file}`);
  if (!earlier) await lines.append(JSON.stringify(header));
  return {
    done: earlier?.results.records ?? [],
    append: (record) => lines.append(JSON.stringify(recordSchema.parse(record))),
    close: () => lines.close(),
  };
}

/** Names of what makes two evaluations different; none: one can go on with the other's file. */
export function differences(a: EvaluationHeader, b: EvaluationHeader): readonly string[] {
  const parts = (header: EvaluationHeader): Readonly<Record<string, unknown>> => {
    const { policy, policyHash, tasks, settings, scaffoldHash, agentVersion } = header;
    const { budgets, ...others } = settings;
    return {
      policy: [policy.kind, policy.model, policyHash],
      sampling: policy.sampling,
      tasks: tasks.hash,
      scaffold: scaffoldHash,
      'version of prime-agent': agentVersion,
      ...others,
      ...budgets,
      tries: budgets.tries ?? null,
    };
  };
  const [first, second] = [parts(a), parts(b)];
  return Object.keys(first).filter(
    (name) => JSON.stringify(first[name]) !== JSON.stringify(second[name]),
  );
}
