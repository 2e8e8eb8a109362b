import type { FileTree } from '../../tasks/tree.ts';
import {
  ENVIRONMENT_VERSION,
  type EnvironmentBase,
  type EnvironmentDescription,
} from '../description.ts';
import { cargoRecipe, goRecipe, gradleRecipe, mavenRecipe } from './compiled.ts';
import { readDevcontainer } from './devcontainer.ts';
import { nodeRecipe } from './node.ts';
import { pythonRecipe } from './python.ts';
import type { Language, NoRecipe, Recipe, Recognise } from './recipe.ts';

export type DetectedEnvironment =
  | {
      readonly kind: 'described';
      readonly description: EnvironmentDescription;
      readonly source: string;
    }
  /** Nothing of the repository says what its tests need, or it cannot be done; and what then. */
  | { readonly kind: 'unknown'; readonly reason: string; readonly remedy: string };

export interface DetectOptions {
  /** Where the tests are; its lock files count before those of the root. */
  readonly projectPath?: string;
  /** Language of the tests, where both are there. */
  readonly prefer?: Language;
  /** In place of the base that was found; it must have the programs that the set-up calls. */
  readonly image?: string;
}

/** The first of a language wins: a folder has one package manager. */
const RECIPES: Readonly<Record<Language, readonly Recognise[]>> = {
  node: [nodeRecipe],
  python: [pythonRecipe],
  go: [goRecipe],
  rust: [cargoRecipe],
  jvm: [mavenRecipe, gradleRecipe],
};

const NOTHING: DetectedEnvironment = {
  kind: 'unknown',
  reason: 'Nothing in the repository says what its tests need',
  remedy: 'Name an image in which they run: --image NAME',
};

/**
 * The environment that a repository describes. In this order:
 *
 * 1. devcontainer.json: its image or Dockerfile, and its commands. Without commands the lock files
 *    say what is installed.
 * 2. Lock files, on the usual image of their language.
 * 3. A Dockerfile of the root, where there is nothing else: it builds what is shipped, mostly
 *    without the tests' tools.
 *
 * A named image takes the place of the base, not of the set-up. Pure: looks at the files alone.
 */
export function detectEnvironment(
  files: FileTree,
  options: DetectOptions = {},
): DetectedEnvironment {
  const devcontainer = readDevcontainer(files);
  const found = recipesOf(files, options);
  if (devcontainer !== undefined && 'problem' in devcontainer && options.image === undefined) {
    return unknown(devcontainer);
  }
  if (devcontainer !== undefined && !('problem' in devcontainer)) {
    const { base, setup, variables, notes, file } = devcontainer;
    const own = setup.length > 0;
    if (!own && found.problem !== undefined && found.recipes.length === 0)
      return unknown(found.problem);
    return {
      kind: 'described',
      source: file,
      description: merge(named(options) ?? base, own ? [] : found.recipes, {
        files: own ? 'all' : [],
        setup,
        variables,
        notes,
      }),
    };
  }
  if (found.recipes.length > 0) return fromRecipes(found.recipes, options);
  if (found.problem !== undefined) return unknown(found.problem);
  const image = named(options);
  const dockerfile = files.has('Dockerfile')
    ? ({ kind: 'dockerfile', dockerfile: 'Dockerfile', context: '', args: {} } as const)
    : undefined;
  const base = image ?? dockerfile;
  if (base === undefined) return NOTHING;
  return {
    kind: 'described',
    source: image === undefined ? 'Dockerfile' : 'the named image',
    description: merge(base, [], { files: [], setup: [], variables: {}, notes: [] }),
  };
}

interface Found {
  readonly recipes: readonly Recipe[];
  readonly problem: NoRecipe | undefined;
}

/** Of every language, in the project's own folder or else in the root. */
function recipesOf(files: FileTree, { projectPath = '', prefer }: DetectOptions): Found {
  const languages = Object.keys(RECIPES) as Language[];
  const order = languages.sort((a, b) => Number(b === prefer) - Number(a === prefer));
  const recipes: Recipe[] = [];
  let problem: NoRecipe | undefined;
  for (const language of order) {
    for (const folder of [...new Set([projectPath, ''])]) {
      const found = first(RECIPES[language], files, folder);
      if (found === undefined) continue;
      if ('problem' in found) {
        problem ??= found;
        continue;
      }
      recipes.push(found);
      // One that installs nothing leaves it to the root: workspaces have their lock file there.
      if (found.setup.length > 0) break;
    }
  }
  // Files of Python beside a project of another language are tools, unless they ask for something.
  const needed = recipes.filter((recipe, at) => at === 0 || recipe.setup.length > 0);
  return { recipes: needed, problem };
}

function first(
  recognisers: readonly Recognise[],
  files: FileTree,
  folder: string,
): Recipe | NoRecipe | undefined {
  for (const recognise of recognisers) {
    const found = recognise(files, folder);
    if (found !== undefined) return found;
  }
  return undefined;
}

function fromRecipes(recipes: readonly Recipe[], options: DetectOptions): DetectedEnvironment {
  const image = named(options);
  const [main] = recipes;
  if (main === undefined) return NOTHING;
  // The usual images have one language each; a named one may have all.
  const used =
    image === undefined ? recipes.filter(({ language }) => language === main.language) : recipes;
  const left = recipes.filter((recipe) => !used.includes(recipe));
  return {
    kind: 'described',
    source:
      [...new Set(used.flatMap(({ setup }) => setup.map(({ tool }) => tool)))].join(', ') ||
      main.language,
    description: merge(image ?? { kind: 'image', image: main.image }, used, {
      files: [],
      setup: [],
      variables: {},
      notes: left.flatMap(({ setup }) =>
        setup.map(
          ({ tool }) =>
            `${tool} is left out: ${main.image} is for ${main.language}. Name an image that has both: --image NAME`,
        ),
      ),
    }),
  };
}

function named({ image }: DetectOptions): EnvironmentBase | undefined {
  return image === undefined ? undefined : { kind: 'image', image };
}

function unknown({ problem, remedy }: NoRecipe): DetectedEnvironment {
  return { kind: 'unknown', reason: problem, remedy };
}

function merge(
  base: EnvironmentBase,
  recipes: readonly Recipe[],
  own: Pick<Recipe, 'setup' | 'variables' | 'notes' | 'files'>,
): EnvironmentDescription {
  const all = [own, ...recipes];
  const files = all.some((part) => part.files === 'all')
    ? ('all' as const)
    : [...new Set(all.flatMap((part) => (part.files === 'all' ? [] : part.files)))].sort();
  return {
    version: ENVIRONMENT_VERSION,
    base,
    files,
    setup: all.flatMap((part) => [...part.setup]),
    path: [...new Set(recipes.flatMap((recipe) => recipe.path))],
    variables: Object.assign({}, ...recipes.map((recipe) => recipe.variables), own.variables),
    notes: all.flatMap((part) => [...part.notes]),
  };
}
