import type { TokenChoice } from '../policies/policy.ts';
import type { TurnLine } from './schema.ts';

/**
 * One training row: a token sequence in which the policy sampled the masked part. All three arrays
 * have the same length.
 */
export interface TrainingRow {
  readonly ids: readonly number[];
  /** 1 exactly on sampled ids, the stop token included; with `choices` on those alone. */
  readonly lossMask: readonly (0 | 1)[];
  /** Natural logarithms on sampled ids, 0 elsewhere. */
  readonly logprobs: readonly number[];
  /**
   * Where replies were drawn from a set: what could have come, `at` counted in the row. The mask is 1
   * there and nowhere else: what follows by itself was not sampled.
   */
  readonly choices?: readonly TokenChoice[];
  /** Indices of the turns that went in. */
  readonly turns: readonly number[];
}

export interface RowCounters {
  readonly turns: number;
  /** Turns for which the policy gave no tokens: they train nothing. */
  readonly turnsWithoutTokens: number;
  /** Turns whose prompt did not continue the row before: each began a new row. */
  readonly prefixMismatches: number;
  readonly sampledTokens: number;
}

export interface TrainingRows {
  readonly rows: readonly TrainingRow[];
  readonly counters: RowCounters;
}

/**
 * Merges turns where a turn's prompt begins with exactly the ids of the row so far: what the
 * policy sampled stays in the context as it was sampled. Otherwise (a template that changes
 * earlier turns, a tokenizer that splits differently) a new row starts and is counted; nothing is
 * ever tokenized again.
 */
export function trainingRows(turns: readonly TurnLine[]): TrainingRows {
  const rows: MutableRow[] = [];
  let turnsWithoutTokens = 0;
  let prefixMismatches = 0;
  let sampledTokens = 0;
  for (const turn of turns) {
    const { tokens } = turn.reply;
    if (!tokens) {
      turnsWithoutTokens += 1;
      continue;
    }
    let row = rows.at(-1);
    const drawn = tokens.choices !== undefined;
    // Rows whose replies are one of a set and rows of free text are learnt in different ways.
    const sameKind = row === undefined || (row.choices !== undefined) === drawn;
    if (!row || !sameKind || !startsWith(tokens.promptIds, row.ids)) {
      if (row) prefixMismatches += 1;
      row = { ids: [], lossMask: [], logprobs: [], turns: [], ...(drawn && { choices: [] }) };
      rows.push(row);
    }
    for (let at = row.ids.length; at < tokens.promptIds.length; at++) {
      push(row, tokens.promptIds[at], 0, 0);
    }
    const start = row.ids.length;
    const places = new Set(tokens.choices?.map(({ at }) => at));
    tokens.sampledIds.forEach((id, at) => {
      if (drawn && !places.has(at)) push(row, id, 0, 0);
      else push(row, id, 1, tokens.logprobs[at]);
    });
    row.choices?.push(
      ...(tokens.choices ?? []).map((choice) => ({ ...choice, at: start + choice.at })),
    );
    row.turns.push(turn.index);
    sampledTokens += tokens.sampledIds.length;
  }
  const counters = { turns: turns.length, turnsWithoutTokens, prefixMismatches, sampledTokens };
  return { rows, counters };
}

interface MutableRow {
  readonly ids: number[];
  readonly lossMask: (0 | 1)[];
  readonly logprobs: number[];
  readonly choices?: TokenChoice[];
  readonly turns: number[];
}

function push(
  row: MutableRow,
  id: number | undefined,
  mask: 0 | 1,
  logprob: number | undefined,
): void {
  // The schema guarantees equal lengths; a hole here would silently train on the wrong token.
  if (id === undefined || logprob === undefined) {
    throw new RangeError('sampledIds and logprobs must have the same length');
  }
  row.ids.push(id);
  row.lossMask.push(mask);
  row.logprobs.push(logprob);
}

function startsWith(ids: readonly number[], prefix: readonly number[]): boolean {
  return ids.length >= prefix.length && prefix.every((id, at) => ids[at] === id);
}
