import {
  type AttemptRecord,
  type EvaluationHeader,
  evaluationHeader,
  taskSetHash,
} from '../../../src/core/evaluation/results-file.ts';

/** `a` → an id of the right form. */
export const idOf = (name: string): string => taskSetHash([name]);

export function makeHeader(
  given: {
    readonly label?: string;
    readonly tasks?: readonly string[];
    readonly settings?: Partial<EvaluationHeader['settings']>;
    readonly tries?: number;
    readonly scaffoldHash?: string;
  } = {},
): EvaluationHeader {
  const { label = 'tiny', tasks = ['a', 'b'], settings = {}, tries } = given;
  return evaluationHeader({
    agentVersion: '0.1.0',
    policy: {
      kind: 'scripted',
      label,
      model: label,
      sampling: { temperature: 1, topP: 1, topK: -1 },
    },
    scaffoldHash: given.scaffoldHash ?? 'scaffold',
    tasks: { hash: taskSetHash(tasks.map(idOf)), count: tasks.length, split: 'held-out' },
    settings: {
      attempts: 1,
      seed: 0,
      rules: 'strict',
      budgets: {
        turns: 10,
        contextTokens: 1000,
        generatedTokens: 1000,
        replyTokens: 100,
        timeMs: 60_000,
        ...(tries === undefined ? {} : { tries }),
      },
      sandbox: 'local',
      ...settings,
    },
  });
}

export function makeRecord(
  name: string,
  attempt: number,
  outcome: AttemptRecord['outcome'],
  given: Partial<AttemptRecord> = {},
): AttemptRecord {
  return {
    type: 'attempt',
    task: idOf(name),
    attempt,
    seed: attempt,
    outcome,
    reason: outcome === 'solved' ? 'all target tests pass' : 'all turns were used',
    turns: 4,
    edits: 2,
    testRuns: 3,
    tries: 2,
    promptTokens: 100,
    completionTokens: 20,
    seconds: 1.5,
    repeated: false,
    ...given,
  };
}
