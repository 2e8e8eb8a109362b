import { createInterface } from 'node:readline';
import { z } from 'zod';
import { LearnerError, type LearnerPlace, startPython } from './learner.ts';

const publishedSchema = z.looseObject({
  event: z.literal('published'),
  policy_version: z.int(),
  folder: z.string(),
});

export interface Published {
  readonly version: number;
  /** Weights and graph for the sampler. */
  readonly folder: string;
}

export interface StepAnswer {
  readonly metrics: Readonly<Record<string, unknown>>;
  readonly published: Published;
}

export interface GrpoProcess {
  /** What the run starts (or goes on) from. */
  readonly first: Published;
  step(line: {
    readonly kind: 'grpo' | 'supervised';
    readonly rows: string;
    readonly policy_version: number;
  }): Promise<StepAnswer>;
  /** Ends the process; with `out` the model is written there. */
  finish(out: string | null): Promise<void>;
}

/** The learner's `grpo` command: one line in per step, its answer out (docs/learner.md). */
export async function startGrpo(
  request: Readonly<Record<string, unknown>>,
  place: LearnerPlace,
): Promise<GrpoProcess> {
  const { child, said, closed } = startPython(['-m', 'prime_learner', 'grpo'], place);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Readonly<Record<string, unknown>>> => {
    for (;;) {
      const line = await lines.next();
      if (line.done) throw new LearnerError(`the learner ended: ${said() || 'without a word'}`);
      const event = JSON.parse(line.value) as Readonly<Record<string, unknown>>;
      if (event.event === 'note') process.stdout.write(`learner: ${String(event.text)}\n`);
      else if (event.event === 'failed') throw new LearnerError(String(event.message));
      else if (event.event === 'halted') throw new LearnerError(`halted: ${JSON.stringify(event)}`);
      else return event;
    }
  };
  const published = async (): Promise<Published> => {
    for (;;) {
      const found = publishedSchema.safeParse(await next());
      if (found.success) {
        return { version: found.data.policy_version, folder: found.data.folder };
      }
    }
  };
  const send = (line: unknown): void => void child.stdin.write(`${JSON.stringify(line)}\n`);
  send({ contract: 1, threads: 1, processes: place.threads, ...request });
  return {
    first: await published(),
    step: async (line) => {
      send(line);
      for (;;) {
        const event = await next();
        if (event.event === 'step') return { metrics: event, published: await published() };
      }
    },
    finish: async (out) => {
      send({ finish: { out } });
      child.stdin.end();
      await closed;
    },
  };
}
