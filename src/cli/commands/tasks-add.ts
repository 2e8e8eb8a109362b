import { resolve } from 'node:path';
import { problem } from '../../core/fix/prepare.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { reportProblem } from '../job.ts';
import { plural } from '../render/style.ts';
import { placeOf } from './serve.ts';
import { loadServer, type PlaceOptions } from './server-bundle.ts';

/** Gives the training server tasks to make attempts at. Works beside a server that runs. */
export async function tasksAddCommand(
  file: string,
  options: PlaceOptions & { readonly json: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const { addTaskFile } = await loadServer(context);
  try {
    const done = await addTaskFile(placeOf(options, context), resolve(context.cwd, file));
    if (options.json) context.stdout.write(`${JSON.stringify(done)}\n`);
    else {
      const known = done.known === 0 ? '' : `, ${done.known} were there already`;
      context.stdout.write(
        `${plural(done.added, 'task')} added${known}. The server tries them before it uses them.\n`,
      );
    }
    return EXIT.ok;
  } catch (error) {
    // The server is a bundle of its own, with a class of its own.
    if (error instanceof Error && error.name === 'TaskFileError') {
      const remedy = 'Name a file that `prime-agent tasks build` wrote.';
      return reportProblem(problem('usage', error.message, remedy), context, options.json);
    }
    throw error;
  }
}
