import { toAtif, toJsonLines } from '../../core/trajectories/export.ts';
import { readFeedback } from '../../core/trajectories/feedback.ts';
import { trajectoriesRoot } from '../../core/trajectories/folder.ts';
import {
  createTrajectoryStore,
  type StoredAttempt,
  type TrajectoryStore,
} from '../../core/trajectories/store.ts';
import { toMarkdown } from '../../core/trajectories/transcript.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { createStyle, plural } from '../render/style.ts';

export async function listCommand(
  options: { limit: number; json: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const attempts = (await openStore(context).list()).slice(0, options.limit);
  if (options.json) {
    context.stdout.write(`${JSON.stringify(attempts, null, 2)}\n`);
    return EXIT.ok;
  }
  if (attempts.length === 0) {
    context.stderr.write('No attempts are recorded yet. Make one with: prime-agent fix\n');
    return EXIT.ok;
  }
  const style = createStyle(context.stdout, context.env);
  for (const attempt of attempts) {
    const outcome = attempt.outcome === 'solved' ? style.green(attempt.outcome) : attempt.outcome;
    const what = [attempt.workspaceName, attempt.targets.join(', ')].join('  ');
    context.stdout.write(
      `${attempt.attemptId}  ${outcome}  ${attempt.policy}  ${plural(attempt.turns, 'turn')}  ${style.visible(what)}\n`,
    );
  }
  return EXIT.ok;
}

export async function showCommand(id: string, context: CliContext): Promise<ExitCode> {
  const store = openStore(context);
  const attempt = await findOne(store, id, context);
  if (!attempt) return EXIT.usage;
  const { visible } = createStyle(context.stdout, context.env);
  context.stdout.write(
    visible(toMarkdown(await store.read(attempt), await readFeedback(attempt.path))),
  );
  return EXIT.ok;
}

export async function exportCommand(
  ids: readonly string[],
  options: { format: 'jsonl' | 'atif' },
  context: CliContext,
): Promise<ExitCode> {
  const store = openStore(context);
  const attempts: StoredAttempt[] = [];
  for (const id of ids) {
    const attempt = await findOne(store, id, context);
    if (!attempt) return EXIT.usage;
    attempts.push(attempt);
  }
  for (const attempt of ids.length > 0 ? attempts : await store.list()) {
    if (attempt.outcome === 'damaged') {
      context.stderr.write(`! ${attempt.attemptId} is left out: ${attempt.reason}\n`);
      continue;
    }
    const trajectory = await store.read(attempt);
    context.stdout.write(
      options.format === 'atif'
        ? `${JSON.stringify(toAtif(trajectory))}\n`
        : toJsonLines(trajectory),
    );
  }
  return EXIT.ok;
}

function openStore(context: CliContext): TrajectoryStore {
  return createTrajectoryStore(trajectoriesRoot(context.env));
}

async function findOne(
  store: TrajectoryStore,
  id: string,
  context: CliContext,
): Promise<StoredAttempt | undefined> {
  const found = await store.find(id);
  if (found.kind === 'found') return found.attempt;
  const why =
    found.kind === 'missing'
      ? `No attempt is called ${id}. List them with: prime-agent trajectories list`
      : `${id} is the beginning of several attempts: ${found.attempts.map((attempt) => attempt.attemptId).join(', ')}`;
  context.stderr.write(`prime-agent: ${why}\n`);
  return undefined;
}
