import { posix } from 'node:path';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { z } from 'zod';
import { shellQuote } from '../../platform/shell-quote.ts';
import type { FileTree } from '../../tasks/tree.ts';
import type { EnvironmentBase, SetupStep } from '../description.ts';
import { type NoRecipe, textOf } from './recipe.ts';

const PLACES = ['.devcontainer/devcontainer.json', '.devcontainer.json'];
const WORKSPACE = '/workspace';

/** A line for a shell, words, or several of both by name. */
const commandSchema = z.union([
  z.string(),
  z.array(z.string()),
  z.record(z.string(), z.union([z.string(), z.array(z.string())])),
]);
type Command = z.output<typeof commandSchema>;

const devcontainerSchema = z.looseObject({
  image: z.string().min(1).optional(),
  build: z
    .looseObject({
      dockerfile: z.string().optional(),
      context: z.string().optional(),
      target: z.string().optional(),
      args: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  /** The older form of `build`. */
  dockerFile: z.string().optional(),
  context: z.string().optional(),
  dockerComposeFile: z.unknown().optional(),
  containerEnv: z.record(z.string(), z.string()).optional(),
  onCreateCommand: commandSchema.optional(),
  updateContentCommand: commandSchema.optional(),
  postCreateCommand: commandSchema.optional(),
});
type Devcontainer = z.output<typeof devcontainerSchema>;

/** In the order in which they run. */
const SETUP = ['onCreateCommand', 'updateContentCommand', 'postCreateCommand'] as const;

/** What is not done, and why not. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  remoteUser: 'commands run as the user of the sandbox, never as one of the image',
  containerUser: 'commands run as the user of the sandbox, never as one of the image',
  features:
    'they are fetched by the devcontainer command; use an image or a Dockerfile that has them',
  workspaceFolder: `the repository is always at ${WORKSPACE}`,
  workspaceMount: `the repository is always at ${WORKSPACE}`,
  mounts: 'nothing of the host is mounted',
  runArgs: 'the sandbox has options of its own',
  privileged: 'the sandbox has no privileges',
  capAdd: 'the sandbox has no privileges',
  remoteEnv: 'it is for editors; containerEnv is used',
  initializeCommand: 'it would run on the host',
  postStartCommand: 'nothing that it starts would be left when the tests run',
  postAttachCommand: 'it is for editors',
};

export interface FoundDevcontainer {
  readonly kind: 'devcontainer';
  /** Path of the file. */
  readonly file: string;
  readonly base: EnvironmentBase;
  readonly setup: readonly SetupStep[];
  readonly variables: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** Reads devcontainer.json, the older forms too. */
export function readDevcontainer(files: FileTree): FoundDevcontainer | NoRecipe | undefined {
  const file = PLACES.find((path) => files.has(path));
  if (file === undefined) return undefined;
  const errors: ParseError[] = [];
  const value: unknown = parse(textOf(files, file) ?? '', errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    return {
      problem: `${file} is not JSON with comments: ${printParseErrorCode(error.error)} at offset ${error.offset}`,
      remedy: 'Mend it.',
    };
  }
  const parsed = devcontainerSchema.safeParse(value);
  if (!parsed.success) {
    return {
      problem: `${file} cannot be read: ${z.prettifyError(parsed.error)}`,
      remedy: 'Mend it.',
    };
  }
  const base = baseOf(parsed.data, file, files);
  if ('problem' in base) return base;
  const { variables, notes } = variablesOf(parsed.data);
  return {
    kind: 'devcontainer',
    file,
    base,
    setup: SETUP.flatMap((key) => commandsOf(key, parsed.data[key])),
    variables,
    notes: [
      ...notes,
      ...Object.entries(LEFT_OUT).flatMap(([key, why]) =>
        parsed.data[key] === undefined ? [] : [`${file}: ${key} is left out: ${why}.`],
      ),
    ],
  };
}

function baseOf(found: Devcontainer, file: string, files: FileTree): EnvironmentBase | NoRecipe {
  const folder = posix.dirname(file);
  const dockerfile = found.build?.dockerfile ?? found.dockerFile;
  if (dockerfile !== undefined) {
    const path = posix.normalize(posix.join(folder, dockerfile));
    const context = posix.normalize(
      posix.join(folder, found.build?.context ?? found.context ?? '.'),
    );
    if (context.startsWith('..') || !files.has(path)) {
      return {
        problem: `${file} names the Dockerfile ${dockerfile}, which is not in the repository`,
        remedy: 'Commit it, or name an image: --image NAME',
      };
    }
    return {
      kind: 'dockerfile',
      dockerfile: path,
      context: context === '.' ? '' : context,
      ...(found.build?.target === undefined ? {} : { target: found.build.target }),
      args: found.build?.args ?? {},
    };
  }
  if (found.image !== undefined) return { kind: 'image', image: found.image };
  return found.dockerComposeFile === undefined
    ? {
        problem: `${file} names neither an image nor a Dockerfile`,
        remedy: 'Name an image: --image NAME',
      }
    : {
        problem: `${file} uses Docker Compose, and a sandbox is a single container`,
        remedy: 'Name the image of the service in which the tests run: --image NAME',
      };
}

function variablesOf({
  containerEnv = {},
}: Devcontainer): Pick<FoundDevcontainer, 'variables' | 'notes'> {
  const notes: string[] = [];
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(containerEnv)) {
    const text = withPlaces(value);
    if (/\$\{[^}]*\}/.test(text) || !/^[A-Za-z_]\w*$/.test(name)) {
      notes.push(
        `containerEnv.${name} is left out: it takes its value from the host or the container.`,
      );
    } else variables[name] = text;
  }
  return { variables, notes };
}

function commandsOf(tool: string, command: Command | undefined): SetupStep[] {
  if (command === undefined) return [];
  const line = (part: string | readonly string[]): string =>
    withPlaces(typeof part === 'string' ? part : part.map(shellQuote).join(' '));
  const parts =
    typeof command === 'string' || Array.isArray(command) ? [command] : Object.values(command);
  return parts
    .map(line)
    .filter((text) => text.trim() !== '')
    .map((text) => ({ tool, folder: '', command: text }));
}

function withPlaces(text: string): string {
  return text.replace(/\$\{(?:local|container)WorkspaceFolder\}/g, WORKSPACE);
}
