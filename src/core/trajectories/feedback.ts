import { appendFile, readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Redactor } from '../agent/redactor.ts';
import { writeErrorOf } from './errors.ts';

/**
 * What people did with an attempt's patch. A file beside the record, one line per event, because the
 * record is complete with its end and is never written to again.
 */
const filesSchema = z.array(
  z.strictObject({
    path: z.string(),
    /** Indices of the file's changes (contiguous lines), in order; a file that is taken as a whole has one. */
    changes: z.array(z.int().nonnegative()),
    /** How many changes the file has. */
    of: z.int().positive(),
  }),
);

export const feedbackLineSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    type: z.literal('feedback'),
    version: z.literal(1),
    at: z.iso.datetime(),
    /** `undone`: taken, and taken back. `edited`: the lines that were taken were changed by hand later. */
    kind: z.enum(['accepted', 'discarded', 'undone', 'edited']),
    files: filesSchema,
  }),
  z.strictObject({
    type: z.literal('feedback'),
    version: z.literal(1),
    at: z.iso.datetime(),
    /** The chosen tests, run in the workspace after something was taken. */
    kind: z.literal('tested'),
    passed: z.int().nonnegative(),
    failed: z.int().nonnegative(),
  }),
]);

export type FeedbackLine = z.infer<typeof feedbackLineSchema>;
export type FeedbackFiles = z.infer<typeof filesSchema>;

const RECORD = /\.jsonl$/;

/** @param recordPath of a record, see `StoredAttempt.path` */
export function feedbackPath(recordPath: string): string {
  return `${recordPath.replace(RECORD, '')}.feedback`;
}

/** Rejects with `TrajectoryWriteError`. */
export async function appendFeedback(
  recordPath: string,
  line: FeedbackLine,
  redactor: Redactor,
): Promise<void> {
  const path = feedbackPath(recordPath);
  const checked = feedbackLineSchema.parse(await redactFeedback(line, redactor));
  try {
    await appendFile(path, `${JSON.stringify(checked)}\n`, { mode: 0o600 });
  } catch (error) {
    throw writeErrorOf(error, `what became of the patch into ${path}`);
  }
}

/** Empty where nobody has decided yet. Lines that cannot be read are left out: the record stands. */
export async function readFeedback(recordPath: string): Promise<readonly FeedbackLine[]> {
  const text = await readFile(feedbackPath(recordPath), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [feedbackLineSchema.parse(JSON.parse(line))];
    } catch {
      return [];
    }
  });
}

async function redactFeedback(line: FeedbackLine, redactor: Redactor): Promise<FeedbackLine> {
  if (line.kind === 'tested') return line;
  const files = await Promise.all(
    line.files.map(async (file) => ({ ...file, path: await redactor.redact(file.path) })),
  );
  return { ...line, files };
}

export type FeedbackVerdict = 'undecided' | 'accepted' | 'partly accepted' | 'discarded';

/** How things stand after all events. */
export interface FeedbackSummary {
  readonly verdict: FeedbackVerdict;
  readonly accepted: number;
  readonly discarded: number;
  /** Files in which accepted lines were changed by hand later. */
  readonly edited: readonly string[];
  /** Of the last run. */
  readonly tests: { readonly passed: number; readonly failed: number } | undefined;
}

export function summarizeFeedback(lines: readonly FeedbackLine[]): FeedbackSummary {
  const decisions = new Map<string, 'accepted' | 'discarded'>();
  const edited = new Set<string>();
  let tests: FeedbackSummary['tests'];
  for (const line of lines) {
    if (line.kind === 'tested') {
      tests = { passed: line.passed, failed: line.failed };
      continue;
    }
    for (const { path, changes } of line.files) {
      if (line.kind === 'edited') edited.add(path);
      for (const change of changes) {
        const key = `${change} ${path}`;
        if (line.kind === 'accepted' || line.kind === 'discarded') decisions.set(key, line.kind);
        else if (line.kind === 'undone') decisions.delete(key);
      }
    }
  }
  const kinds = [...decisions.values()];
  const accepted = kinds.filter((kind) => kind === 'accepted').length;
  const discarded = kinds.length - accepted;
  const verdict =
    kinds.length === 0
      ? 'undecided'
      : discarded === 0
        ? 'accepted'
        : accepted === 0
          ? 'discarded'
          : 'partly accepted';
  return { verdict, accepted, discarded, edited: [...edited], tests };
}

/** In one line, for people; undefined where nothing happened yet. */
export function describeFeedback(lines: readonly FeedbackLine[]): string | undefined {
  if (lines.length === 0) return undefined;
  const { verdict, accepted, discarded, edited, tests } = summarizeFeedback(lines);
  const all = accepted + discarded;
  return [
    verdict === 'partly accepted' ? `partly accepted (${accepted} of ${all} changes)` : verdict,
    ...(edited.length > 0 ? [`edited later in ${edited.join(', ')}`] : []),
    ...(tests ? [`tests in the workspace: ${tests.passed} passed, ${tests.failed} failed`] : []),
  ].join('; ');
}
