import { z } from 'zod';
import { shellQuote } from '../../platform/shell-quote.ts';
import type { FileTree } from '../../tasks/tree.ts';
import { SCRATCH, type SetupStep } from '../description.ts';
import { type NoRecipe, pathsBelow, type Recipe, textOf, within } from './recipe.ts';

const manifestSchema = z.looseObject({
  packageManager: z.string().optional(),
  workspaces: z.unknown().optional(),
  dependencies: z.record(z.string(), z.unknown()).optional(),
  devDependencies: z.record(z.string(), z.unknown()).optional(),
  optionalDependencies: z.record(z.string(), z.unknown()).optional(),
});
type Manifest = z.output<typeof manifestSchema>;

const lockSchema = z.looseObject({
  packages: z.record(z.string(), z.looseObject({ hasInstallScript: z.boolean().optional() })),
});

/** Debian with Node, Python 3, git and compilers. */
const IMAGE = (major: string): string => `node:${major}-bookworm`;
const DEFAULT_MAJOR = '22';
const YARN_CLASSIC = '1.22.22';
const YARN_BERRY = '4';

/**
 * npm, pnpm or Yarn by their lock files. The project's own scripts (`prepare`, `postinstall`) do
 * not run: their sources are not there. Scripts of packages do, since some compile what they need.
 */
export function nodeRecipe(files: FileTree, folder: string): Recipe | NoRecipe | undefined {
  const text = textOf(files, within(folder, 'package.json'));
  if (text === undefined) return undefined;
  const manifest = read(manifestSchema, text);
  if (manifest === undefined) {
    return {
      problem: `${within(folder, 'package.json')} is not a manifest of npm`,
      remedy: 'Mend it.',
    };
  }
  const base = {
    language: 'node',
    image: IMAGE(nodeMajor(files, folder)),
    path: [],
    variables: {},
    notes: [],
  } as const;
  const found =
    npmSteps(files, folder) ??
    pnpmSteps(files, folder, manifest) ??
    yarnSteps(files, folder, manifest);
  if (found !== undefined) return { ...base, ...found };
  const named = [manifest.dependencies, manifest.devDependencies, manifest.optionalDependencies];
  if (named.some((group) => Object.keys(group ?? {}).length > 0)) {
    return {
      problem: `${within(folder, 'package.json')} names packages, but no lock file says which versions of them`,
      remedy:
        'Commit package-lock.json, pnpm-lock.yaml or yarn.lock, or name an image that has the packages.',
    };
  }
  return { ...base, files: [], setup: [] };
}

type Found = Pick<Recipe, 'files' | 'setup'>;

function npmSteps(files: FileTree, folder: string): Found | undefined {
  // npm itself takes the shrinkwrap where there are both.
  const lock = ['npm-shrinkwrap.json', 'package-lock.json'].find((name) =>
    files.has(within(folder, name)),
  );
  if (lock === undefined) return undefined;
  // Without --include=dev an image with NODE_ENV=production would leave the test tools out.
  const install = 'npm ci --include=dev --ignore-scripts --no-audit --no-fund';
  const scripted = scriptedPackages(textOf(files, within(folder, lock)) ?? '');
  const rebuild =
    scripted.length === 0 ? [] : [`npm rebuild ${scripted.map(shellQuote).join(' ')}`];
  return {
    files: manifests(files, folder, [lock, '.npmrc']),
    setup: [step('npm', folder, [install, ...rebuild])],
  };
}

/** Packages with scripts of installation, as the lock file says (version 2 and later). */
function scriptedPackages(lock: string): readonly string[] {
  const { packages = {} } = read(lockSchema, lock) ?? {};
  const names = Object.entries(packages).flatMap(([path, { hasInstallScript }]) => {
    const at = path.lastIndexOf('node_modules/');
    return hasInstallScript && at >= 0 ? [path.slice(at + 'node_modules/'.length)] : [];
  });
  return [...new Set(names)].sort();
}

function pnpmSteps(files: FileTree, folder: string, manifest: Manifest): Found | undefined {
  const lock = textOf(files, within(folder, 'pnpm-lock.yaml'));
  if (lock === undefined) return undefined;
  const version = managerVersion(manifest, 'pnpm') ?? pnpmVersion(lock);
  const pnpm = `npm exec --yes -- pnpm@${version}`;
  return {
    files: manifests(
      files,
      folder,
      ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc', '.pnpmfile.cjs'],
      /^patches\//,
    ),
    setup: [
      step('pnpm', folder, [
        // Links lead into node_modules/.pnpm; a store elsewhere would not be kept.
        `${pnpm} install --frozen-lockfile --prod=false --ignore-scripts --store-dir ${SCRATCH}/pnpm-store --package-import-method copy`,
        // What the project does not allow to be built is left alone.
        `${pnpm} rebuild`,
      ]),
    ],
  };
}

/** The oldest pnpm that reads this form of lock file and is still kept. */
function pnpmVersion(lock: string): string {
  const form = /^lockfileVersion:\s*['"]?(\d+)/m.exec(lock)?.[1] ?? '9';
  return { '5': '7', '6': '8' }[form] ?? '9';
}

function yarnSteps(files: FileTree, folder: string, manifest: Manifest): Found | undefined {
  const lock = textOf(files, within(folder, 'yarn.lock'));
  if (lock === undefined) return undefined;
  const isBerry = /^__metadata:/m.test(lock);
  const version = managerVersion(manifest, 'yarn');
  const yarn = isBerry
    ? `npm exec --yes --package=@yarnpkg/cli-dist@${version ?? YARN_BERRY} -- yarn`
    : `npm exec --yes -- yarn@${version ?? YARN_CLASSIC}`;
  const install = isBerry
    ? // Plug'n'Play has no folder that a test runner finds packages in.
      `YARN_NODE_LINKER=node-modules YARN_ENABLE_TELEMETRY=0 ${yarn} install --immutable --mode=skip-build`
    : `${yarn} install --frozen-lockfile --production=false --ignore-scripts --non-interactive --no-progress`;
  return {
    files: manifests(
      files,
      folder,
      ['yarn.lock', '.yarnrc', '.yarnrc.yml', '.npmrc'],
      /^\.yarn\/(?:releases|plugins|patches)\//,
    ),
    setup: [
      step('yarn', folder, [
        install,
        // It would run the scripts of the workspaces as well.
        ...(manifest.workspaces === undefined ? ['npm rebuild'] : []),
      ]),
    ],
  };
}

/** Its own files, and every manifest: workspaces are known by theirs. */
function manifests(
  files: FileTree,
  folder: string,
  names: readonly string[],
  more?: RegExp,
): readonly string[] {
  return pathsBelow(
    files,
    folder,
    (path) =>
      names.includes(path) ||
      more?.test(path) === true ||
      (/(?:^|\/)package\.json$/.test(path) && !/(?:^|\/)node_modules\//.test(path)),
  );
}

function step(tool: string, folder: string, commands: readonly string[]): SetupStep {
  return { tool, folder, command: commands.join(' && ') };
}

/** `pnpm@9.1.0+sha512.…` of package.json. */
function managerVersion({ packageManager }: Manifest, name: string): string | undefined {
  const match = /^(\w+)@(\d+(?:\.\d+){0,2})/.exec(packageManager ?? '');
  return match?.[1] === name ? match[2] : undefined;
}

function nodeMajor(files: FileTree, folder: string): string {
  for (const place of new Set([folder, ''])) {
    for (const name of ['.nvmrc', '.node-version']) {
      const major = /^\s*v?(\d+)/.exec(textOf(files, within(place, name)) ?? '')?.[1];
      if (major !== undefined) return major;
    }
  }
  return DEFAULT_MAJOR;
}

function read<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
