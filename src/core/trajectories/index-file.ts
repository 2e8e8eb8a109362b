import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AttemptSummary, summarySchema } from './summary.ts';

/**
 * The index of a folder: one line per ended attempt. It is a cache of the records: a line that is
 * missing, cut or of another version costs one reading of its record, and a line too many nothing.
 * So neither a crash nor two processes at once can lose an attempt.
 */
/** Begins with a dot, as no attempt id does. */
const INDEX = '.index.jsonl';

export async function readIndex(folder: string): Promise<ReadonlyMap<string, AttemptSummary>> {
  const summaries = new Map<string, AttemptSummary>();
  let text: string;
  try {
    text = await readFile(join(folder, INDEX), 'utf8');
  } catch {
    return summaries;
  }
  for (const line of text.split('\n')) {
    const summary = parseSummary(line);
    if (summary) summaries.set(summary.attemptId, summary);
  }
  return summaries;
}

function parseSummary(line: string): AttemptSummary | undefined {
  if (line === '') return undefined;
  try {
    return summarySchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Best effort: what fails here is found in the record itself. */
export async function appendToIndex(folder: string, summary: AttemptSummary): Promise<void> {
  try {
    await appendFile(join(folder, INDEX), `${JSON.stringify(summary)}\n`, { mode: 0o600 });
  } catch {
    // The record is what counts.
  }
}

/** Keeps the lines of `summaries` alone. */
export async function rewriteIndex(
  folder: string,
  summaries: Iterable<AttemptSummary>,
): Promise<void> {
  const temporary = join(folder, `${INDEX}.${process.pid}.tmp`);
  const lines = [...summaries].map((summary) => `${JSON.stringify(summary)}\n`);
  await writeFile(temporary, lines.join(''), { mode: 0o600 });
  await rename(temporary, join(folder, INDEX));
}
