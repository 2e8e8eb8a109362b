import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/** One line of what the learner writes (docs/learner.md, Contract). */
const eventSchema = z.looseObject({ contract: z.literal(1), event: z.string() });

export type LearnerEvent = z.output<typeof eventSchema>;

export interface LearnerPlace {
  /** Python with the learner's requirements. */
  readonly python: string;
  /** The folder `server/learner`. */
  readonly source: string;
  readonly threads: number;
}

export class LearnerError extends Error {
  override readonly name = 'LearnerError';
}

/** Runs one command and resolves with its `done` event. Interrupted and failed ones reject. */
export async function runLearner(
  command: string,
  request: Readonly<Record<string, unknown>>,
  place: LearnerPlace,
  onEvent: (event: LearnerEvent) => void = () => undefined,
): Promise<LearnerEvent> {
  const { child, said, closed } = startPython(['-m', 'prime_learner', command], place);
  let last: LearnerEvent | undefined;
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    last = eventSchema.parse(JSON.parse(line));
    onEvent(last);
  });
  child.stdin.end(`${JSON.stringify({ contract: 1, ...request })}\n`);
  const stop = (): void => void child.kill('SIGTERM');
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const code = await closed;
  process.off('SIGINT', stop);
  process.off('SIGTERM', stop);
  if (last?.event === 'done' && code === 0) return last;
  if (last?.event === 'interrupted') {
    throw new LearnerError(`${command} was interrupted; the same command goes on where it stopped`);
  }
  const reason = last?.event === 'failed' ? String(last.message) : said() || `exit code ${code}`;
  throw new LearnerError(`${command} failed: ${reason}`);
}

/** Runs one of the learner's modules to its end; rejects with what it said. */
export async function runModule(
  module: string,
  args: readonly string[],
  place: LearnerPlace,
): Promise<void> {
  const { child, said, closed } = startPython(['-m', module, ...args], place);
  child.stdin.end();
  child.stdout.resume();
  const code = await closed;
  if (code !== 0) throw new LearnerError(`${module} failed: ${said() || `exit code ${code}`}`);
}

export interface PythonProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** The end of what it wrote to standard error. */
  said(): string;
  /** Exit code; rejects when it could not be started. */
  readonly closed: Promise<number | null>;
}

/** Python with the learner on its path. */
export function startPython(
  args: readonly string[],
  { python, source, threads }: LearnerPlace,
): PythonProcess {
  const child = spawn(python, args, {
    env: {
      ...process.env,
      PYTHONPATH: source,
      PYTHONDONTWRITEBYTECODE: '1',
      OMP_NUM_THREADS: String(threads),
      HF_HUB_OFFLINE: '1',
    },
  });
  let errors = '';
  child.stderr.on('data', (part: Buffer) => {
    errors = (errors + part.toString()).slice(-4_000);
  });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { child, said: () => errors.trim(), closed };
}
