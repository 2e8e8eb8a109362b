import { Argument, type Command } from 'commander';
import {
  DATA_KINDS,
  dataExportCommand,
  dataListCommand,
  dataRemoveCommand,
} from './commands/data.ts';
import {
  outboxAllowCommand,
  outboxDenyCommand,
  outboxListCommand,
  outboxPreviewCommand,
  outboxShowCommand,
  outboxWithdrawCommand,
} from './commands/outbox.ts';
import { outboxSendCommand } from './commands/outbox-send.ts';
import type { CliContext } from './context.ts';
import type { ExitCode } from './exit-codes.ts';
import { positive } from './option-parsers.ts';

export interface ProgramParts {
  readonly context: CliContext;
  /** Makes an action of a command out of what gives its exit code. */
  readonly act: <Args extends unknown[]>(
    action: (...args: Args) => Promise<ExitCode>,
  ) => (...args: Args) => Promise<void>;
}

/** `data`: what a training server keeps. */
export function addDataCommands(program: Command, { act, context }: ProgramParts): void {
  const place = (command: Command): Command =>
    json(command)
      .option('--config <file>', 'configuration of the server')
      .option('--data <dir>', 'data folder of the server');
  const data = program.command('data').description('What the training server keeps');
  place(data.command('ls'))
    .description('How much there is, or one kind of it, newest first')
    .addArgument(new Argument('[kind]', 'kind of data').choices(DATA_KINDS))
    .option('--limit <n>', 'entries at most', positive, 20)
    .action(
      act((kind: (typeof DATA_KINDS)[number] | undefined, options) =>
        dataListCommand(kind, options, context),
      ),
    );
  place(data.command('rm'))
    .description('Remove contents; ids, parents, rewards and hashes stay')
    .addArgument(new Argument('<kind>', 'kind of data').choices(DATA_KINDS))
    .argument('<ids...>', 'as `data ls` shows them')
    .option('--yes', 'do not ask', false)
    .action(
      act((kind: (typeof DATA_KINDS)[number], ids: string[], options) =>
        dataRemoveCommand(kind, ids, options, context),
      ),
    );
  place(data.command('export'))
    .description('Write everything into a new folder: JSON Lines, archives, policy versions')
    .argument('<folder>', 'a folder that is not there yet')
    .action(act((folder: string, options) => dataExportCommand(folder, options, context)));
}

/** `outbox`: what goes to a training server, and whether. */
export function addOutboxCommands(program: Command, { act, context }: ProgramParts): void {
  const outbox = program
    .command('outbox')
    .description('What of your attempts goes to a training server, and whether');
  json(outbox.command('preview'))
    .description('Show what an attempt contains, before anything is allowed')
    .argument('[path]', 'folder of the workspace', '.')
    .option('--attempt <id>', 'attempt id, or the beginning of one (default: the newest)')
    .option('--full', 'the very text that would be sent', false)
    .option('--all-files', 'every file that would go with it, with its size', false)
    .option('--no-files', 'without the files that it had before it')
    .action(act((path: string, options) => outboxPreviewCommand(path, options, context)));
  json(outbox.command('allow'))
    .description('Show it, then allow that attempts at this workspace are sent')
    .argument('[path]', 'folder of the workspace', '.')
    .option('--attempt <id>', 'attempt to show (default: the newest)')
    .option('--no-files', 'the files that attempts had before them stay here')
    .option('--yes', 'do not ask', false)
    .action(act((path: string, options) => outboxAllowCommand(path, options, context)));
  json(outbox.command('deny'))
    .description('Take that back, and with it what waits')
    .argument('[path]', 'folder of the workspace', '.')
    .action(act((path: string, options) => outboxDenyCommand(path, options, context)));
  json(outbox.command('ls'))
    .description('Workspaces that are allowed, and attempts on their way')
    .action(act((options) => outboxListCommand(options, context)));
  outbox
    .command('show')
    .description('The very text that is sent')
    .argument('<id>', 'attempt id')
    .action(act((id: string) => outboxShowCommand(id, context)));
  json(outbox.command('withdraw'))
    .description('Take attempts back that were not sent yet')
    .argument('<ids...>', 'attempt ids')
    .action(act((ids: string[], options) => outboxWithdrawCommand(ids, options, context)));
  json(outbox.command('send'))
    .description('Send what is allowed; the token comes from PRIME_AGENT_TOKEN or a file')
    .requiredOption('--server <url>', 'https://host:port, or http:// on this machine')
    .option('--fingerprint <hex>', 'of a certificate that the server made itself')
    .option('--token-file <file>', 'file that holds the token')
    .action(act((options) => outboxSendCommand(options, context)));
}

function json(command: Command): Command {
  return command.option('--json', 'one JSON document on standard output', false);
}
