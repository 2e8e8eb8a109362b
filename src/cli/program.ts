import { Command, CommanderError, Option } from 'commander';
import { AGENT_VERSION } from '../core/fix/version.ts';
import { doctorCommand } from './commands/doctor.ts';
import {
  envBuildCommand,
  envCollectCommand,
  envListCommand,
  envShowCommand,
} from './commands/env.ts';
import { EVAL_SPLITS, evalCommand } from './commands/eval.ts';
import { fixCommand } from './commands/fix.ts';
import { serveCommand } from './commands/serve.ts';
import { tasksBuildCommand } from './commands/tasks.ts';
import { tasksAddCommand } from './commands/tasks-add.ts';
import { tasksCheckCommand } from './commands/tasks-check.ts';
import { testsCommand } from './commands/tests.ts';
import { tokenCreateCommand, tokenListCommand, tokenRevokeCommand } from './commands/token.ts';
import { exportCommand, listCommand, showCommand } from './commands/trajectories.ts';
import type { CliContext } from './context.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { reportCancelled } from './job.ts';
import {
  atLeastTwo,
  positive,
  positiveNumber,
  temperature,
  wholeNumber,
} from './option-parsers.ts';
import { addDataCommands, addOutboxCommands } from './program-data.ts';

/** Builds the command line over a context; `run` resolves with the exit code and never rejects. */
export function createProgram(context: CliContext): {
  run(argv: readonly string[]): Promise<ExitCode>;
} {
  let code: ExitCode = EXIT.ok;
  const program = new Command('prime-agent')
    .description('Fixes failing tests in isolation, and shows the verified patch.')
    .version(AGENT_VERSION)
    .exitOverride()
    .showHelpAfterError('(prime-agent --help shows all options)')
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
    });
  const act =
    <Args extends unknown[]>(action: (...args: Args) => Promise<ExitCode>) =>
    async (...args: Args): Promise<void> => {
      code = await action(...args);
    };

  program
    .command('fix')
    .description('Make attempts at failing tests and show the patch that solves them')
    .argument('[path]', 'folder of the repository', '.')
    .option(
      '--test <id>',
      'test id, file or name; may be given several times (default: every failing test)',
      collect,
      [],
    )
    .option('--command <cmd>', 'own test command: exit code 0 means that it passes')
    .addOption(rewardOption())
    .addOption(rewardCommandOption())
    .addOption(rewardFilesOption())
    .option(
      '--attempts <n>',
      'attempts at each failing test; the first solved one ends them (default: 4, edit-search 2)',
      positive,
    )
    .option('--parallel <n>', 'attempts at the same time', positive)
    .option(
      '--policy <policy>',
      'edit-search, the URL of an OpenAI-compatible endpoint, or a model folder',
    )
    .option('--model <name>', 'model at the endpoint')
    .option('--max-turns <n>', 'turns of one attempt', positive)
    .option('--max-minutes <n>', 'minutes of one attempt', positiveNumber)
    .option('--max-reply-tokens <n>', 'tokens of one reply of a model', positive)
    .addOption(sandboxOption())
    .addOption(dockerImageOption())
    .addOption(includeOption())
    .addOption(testTimeoutOption())
    .option('--hint <text>', 'what you already know about the failure')
    .option('--no-parity', 'do not compare with your own environment first')
    .option('--apply', 'apply the verified patch to your files', false)
    .option('--json', 'one JSON document on standard output', false)
    .action(act((path: string, options) => fixCommand(path, options, context)));

  program
    .command('tests')
    .description('Run the tests in the sandbox and list them')
    .argument('[path]', 'folder of the repository', '.')
    .option('--command <cmd>', 'own test command')
    .addOption(rewardOption())
    .addOption(rewardCommandOption())
    .addOption(rewardFilesOption())
    .addOption(sandboxOption())
    .addOption(dockerImageOption())
    .addOption(includeOption())
    .addOption(testTimeoutOption())
    .option('--failing', 'only those that fail', false)
    .option('--json', 'one JSON document on standard output', false)
    .action(act((path: string, options) => testsCommand(path, options, context)));

  program
    .command('doctor')
    .description('Say what is there, what is missing and how to get it')
    .argument('[path]', 'folder of a repository to look at as well', '.')
    .option('--json', 'one JSON document on standard output', false)
    .action(act((path: string, options) => doctorCommand(path, options, context)));

  const tasks = program.command('tasks').description('Tasks to train and to measure policies on');
  tasks
    .command('build')
    .description('Make tasks: modules or a repository with one bug each, which tests notice')
    .argument('[repo]', 'folder of a repository whose tests pass')
    .option('--generate <n>', 'tasks from generated modules', positive)
    .option('--out <file>', 'file for the tasks; with .gz at the end compressed', 'tasks.jsonl.gz')
    .option('--seed <n>', 'the same seed gives the same tasks', positive, 1)
    .option('--limit <n>', 'tasks from the repository at most', positive, 100)
    .option('--max-minutes <n>', 'for the repository', positiveNumber, 30)
    .addOption(sandboxOption())
    .addOption(dockerImageOption())
    .addOption(includeOption())
    .addOption(testTimeoutOption())
    .option('--json', 'one JSON document on standard output', false)
    .action(act((repo: string | undefined, options) => tasksBuildCommand(repo, options, context)));

  tasks
    .command('check')
    .description(
      'Is an own reward fit for use? 0 on the unchanged code, 1 with the fix, every time',
    )
    .argument('[path]', 'folder of the repository', '.')
    .addOption(rewardOption())
    .addOption(rewardCommandOption())
    .addOption(rewardFilesOption())
    .requiredOption('--fix <patch>', 'git patch that must score 1')
    .option('--repeats <n>', 'runs of each state, two or more', atLeastTwo, 3)
    .addOption(sandboxOption())
    .addOption(dockerImageOption())
    .addOption(includeOption())
    .addOption(testTimeoutOption())
    .option('--json', 'one JSON document on standard output', false)
    .action(act((path: string, options) => tasksCheckCommand(path, options, context)));

  tasks
    .command('add')
    .description('Give a file of tasks to the training server of this machine')
    .argument('<file>', 'as `tasks build` writes it')
    .option('--config <file>', 'configuration of the server')
    .option('--data <dir>', 'data folder of the server')
    .option('--json', 'one JSON document on standard output', false)
    .action(act((file: string, options) => tasksAddCommand(file, options, context)));

  program
    .command('eval')
    .description('Measure a policy on tasks, or compare two measurements')
    .argument('[files...]', 'with --compare: two files of results')
    .option(
      '--policy <policy>',
      'edit-search, the URL of an OpenAI-compatible endpoint, or a model folder',
    )
    .option('--model <name>', 'model at the endpoint')
    .option('--temperature <x>', 'of sampling; 0: the likeliest reply (default: 1)', temperature)
    .option('--tasks <file>', 'file of tasks, as `tasks build` writes it')
    .addOption(
      new Option(
        '--split <part>',
        'part of the tasks (default: held-out if the file is split, else all)',
      ).choices(EVAL_SPLITS),
    )
    .option('--attempts <n>', 'attempts at each task', positive, 1)
    .option('--limit <n>', 'tasks at most; the seed chooses them', positive)
    .option('--seed <n>', 'the same seed makes the same choices', wholeNumber, 0)
    .option('--parallel <n>', 'attempts at the same time', positive)
    .option('--max-tries <n>', 'changes of one attempt that are tested or handed in', positive)
    .option('--max-turns <n>', 'turns of one attempt', positive)
    .option('--max-minutes <n>', 'minutes of one attempt', positiveNumber)
    .option('--max-reply-tokens <n>', 'tokens of one reply of a model', positive)
    .addOption(sandboxOption())
    .addOption(dockerImageOption())
    .addOption(testTimeoutOption())
    .option(
      '--out <file>',
      'results; an interrupted evaluation goes on (default: eval-MODEL.jsonl)',
    )
    .option('--compare', 'compare two files of results, paired by task', false)
    .option('--json', 'one JSON document on standard output', false)
    .action(act((files: string[], options) => evalCommand(files, options, context)));

  const environments = program
    .command('env')
    .description('What tests need, installed in images of a container engine');
  environments
    .command('show')
    .description('Say what would be installed, and why; starts nothing')
    .argument('[path]', 'folder of the repository', '.')
    .addOption(baseImageOption())
    .option('--json', 'one JSON document on standard output', false)
    .action(act((path: string, options) => envShowCommand(path, options, context)));
  environments
    .command('build')
    .description('Install it, with a network, unless it is there')
    .argument('[path]', 'folder of the repository', '.')
    .addOption(baseImageOption())
    .option('--setup-network <name>', 'network of the engine for the set-up', 'default')
    .option('--max-minutes <n>', 'for each command of the set-up', positiveNumber, 30)
    .option('--json', 'one JSON document on standard output', false)
    .action(act((path: string, options) => envBuildCommand(path, options, context)));
  environments
    .command('ls')
    .description('List environments, those used last first')
    .option('--json', 'one JSON document on standard output', false)
    .action(act((options) => envListCommand(options, context)));
  environments
    .command('gc')
    .description('Remove those that were not used for long or are too many; never one in use')
    .option('--max-days <n>', 'not used for so long', positiveNumber, 30)
    .option('--max-gigabytes <n>', 'all of them together', positiveNumber, 20)
    .option('--all', 'all that nobody uses now', false)
    .option('--json', 'one JSON document on standard output', false)
    .action(act((options) => envCollectCommand(options, context)));

  const trajectories = program.command('trajectories').description('The records of attempts');
  trajectories
    .command('list')
    .option('--limit <n>', 'newest first', positive, 20)
    .option('--json', 'one JSON document on standard output', false)
    .action(act((options) => listCommand(options, context)));
  trajectories
    .command('show')
    .argument('<id>', 'attempt id, or the beginning of one')
    .action(act((id: string) => showCommand(id, context)));
  trajectories
    .command('export')
    .argument('[ids...]', 'attempt ids (default: all)')
    .addOption(
      new Option('--format <format>', 'jsonl or atif').choices(['jsonl', 'atif']).default('jsonl'),
    )
    .action(act((ids: string[], options) => exportCommand(ids, options, context)));

  program
    .command('serve')
    .description('Run the training server: it takes trajectories in and keeps them')
    .option('--config <file>', 'configuration (TOML); see docs/server.md')
    .option('--data <dir>', 'folder for everything that is kept')
    .option('--host <address>', 'address to listen at; beyond this machine only with TLS')
    .option('--port <n>', 'port to listen at, 0 for any (default: 7317)', wholeNumber)
    .option('--json', 'one JSON document on standard output when it listens', false)
    .action(act((options) => serveCommand(options, context)));

  const token = program.command('token').description('Tokens for the training server');
  const serverPlace = (command: Command): Command =>
    command
      .option('--config <file>', 'configuration of the server')
      .option('--data <dir>', 'data folder of the server')
      .option('--json', 'one JSON document on standard output', false);
  serverPlace(token.command('create'))
    .description('Make a token; it is shown once')
    .argument('<name>', 'who it is for')
    .addOption(
      new Option('--role <role>', 'what it allows')
        .choices(['contributor', 'admin'])
        .default('contributor'),
    )
    .action(act((name: string, options) => tokenCreateCommand(name, options, context)));
  serverPlace(token.command('list'))
    .description('List tokens')
    .action(act((options) => tokenListCommand(options, context)));
  serverPlace(token.command('revoke'))
    .description('Make a token worthless')
    .argument('<id>', 'see `token list`')
    .action(act((id: string, options) => tokenRevokeCommand(id, options, context)));

  addDataCommands(program, { act, context });
  addOutboxCommands(program, { act, context });

  return {
    async run(argv) {
      try {
        await program.parseAsync([...argv], { from: 'user' });
        return code;
      } catch (error) {
        return exitCodeOf(error, context, argv.includes('--json'));
      }
    },
  };
}

function exitCodeOf(error: unknown, context: CliContext, json: boolean): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (context.signal.aborted) return reportCancelled(context, json);
  const text =
    error instanceof Error
      ? context.env.PRIME_AGENT_DEBUG
        ? error.stack
        : error.message
      : String(error);
  context.stderr.write(`prime-agent: ${text}\n`);
  return EXIT.environment;
}

function rewardOption(): Option {
  return new Option(
    '--reward <file>',
    'own reward instead of tests: a module (.mjs, .js) or a JSON file; see docs/custom-rewards.md',
  );
}

function rewardCommandOption(): Option {
  const text = 'own reward instead of tests: exit code 0 is 1, any other is 0';
  return new Option('--reward-command <cmd>', text);
}

function rewardFilesOption(): Option {
  const text =
    'file or folder that decides the reward: changes to it do not count; may be given several times';
  return new Option('--reward-files <path>', text).argParser(collect).default([]);
}

function sandboxOption(): Option {
  return new Option(
    '--sandbox <kind>',
    'where commands run; none: without isolation, at your own risk',
  )
    .choices(['auto', 'local', 'docker', 'none'])
    .default('auto');
}

function dockerImageOption(): Option {
  return new Option(
    '--docker-image <name>',
    'image for --sandbox docker: name:tag, name@digest or an id that the engine has',
  );
}

function baseImageOption(): Option {
  return new Option('--image <name>', 'base image in place of the one that was found');
}

function includeOption(): Option {
  const text = 'ignored files that the tests need; may be given several times';
  return new Option('--include <glob>', text).argParser(collect).default([]);
}

function testTimeoutOption(): Option {
  return new Option('--test-timeout <seconds>', 'for one run of the tests')
    .argParser(positive)
    .default(300);
}

function collect(value: string, earlier: readonly string[]): string[] {
  return [...earlier, value];
}
