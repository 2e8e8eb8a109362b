import { parse } from 'smol-toml';
import { z } from 'zod';
import { shellQuote } from '../../platform/shell-quote.ts';
import type { FileTree } from '../../tasks/tree.ts';
import { INSTALLED, SCRATCH } from '../description.ts';
import { pathsBelow, type Recipe, textOf, within } from './recipe.ts';

const DEFAULT_VERSION = '3.12';
/** Installers go to a throw-away environment, in the versions that this recipe was made with. */
const UV = 'uv==0.13.9';
const POETRY = 'poetry==2.5.1';

const VENV = `${INSTALLED}/venv`;
const TOOLS = `${SCRATCH}/tools`;

/** The usual names of what a project needs beside what it installs. */
const REQUIREMENTS =
  /^(?:requirements(?:[-_.](?:dev|develop|test|tests|testing|ci))?\.txt|(?:dev|test|tests|testing)[-_]requirements\.txt|requirements\/(?:base|dev|develop|development|test|tests|testing|ci)\.txt)$/;
/** Names of extras and groups that hold test tools. */
const TEST_GROUPS = ['test', 'tests', 'testing', 'dev'];

const tableSchema = z.record(z.string(), z.unknown());
const projectSchema = z.looseObject({
  project: z.looseObject({ 'optional-dependencies': tableSchema.optional() }).optional(),
  'build-system': z.unknown().optional(),
  tool: z
    .looseObject({ uv: z.looseObject({ package: z.boolean().optional() }).optional() })
    .optional(),
});
type Project = z.output<typeof projectSchema>;

/**
 * uv, Poetry or pip, into a virtual environment outside of the workspace. A project that is
 * installed itself is installed editable: its sources stay those of the workspace.
 */
export function pythonRecipe(files: FileTree, folder: string): Recipe | undefined {
  const at = (name: string): string => within(folder, name);
  const base = {
    language: 'python',
    image: `python:${pythonVersion(files, folder)}-bookworm`,
    path: [`${VENV}/bin`],
    variables: { VIRTUAL_ENV: VENV },
    notes: [],
  } as const;
  const project = readProject(textOf(files, at('pyproject.toml')));
  const isPackage = project?.['build-system'] !== undefined || files.has(at('setup.py'));
  const manifests = present(files, folder, ['pyproject.toml', '.python-version']);
  const step = (tool: string, commands: readonly string[]) => ({
    setup: [{ tool, folder, command: commands.join(' && ') }],
  });

  if (files.has(at('uv.lock'))) {
    const installsItself = isPackage && project?.tool?.uv?.package !== false;
    const extras = testExtras(project).map((name) => `--extra ${shellQuote(name)}`);
    const sync = [
      'uv sync',
      '--frozen',
      ...(installsItself ? [] : ['--no-install-project']),
      ...extras,
    ];
    return {
      ...base,
      files:
        installsItself || hasWorkspace(files, folder)
          ? 'all'
          : [...manifests, at('uv.lock')].sort(),
      ...step('uv', [
        ...tool(UV),
        // Files that are linked to a cache would lose their content with it.
        `UV_PROJECT_ENVIRONMENT=${VENV} UV_LINK_MODE=copy UV_PYTHON_INSTALL_DIR=${INSTALLED}/python ${TOOLS}/bin/${sync.join(' ')}`,
        ...withPytest(`VIRTUAL_ENV=${VENV} ${TOOLS}/bin/uv pip install`),
      ]),
    };
  }
  if (files.has(at('poetry.lock'))) {
    return {
      ...base,
      files: isPackage ? 'all' : [...manifests, at('poetry.lock')].sort(),
      ...step('poetry', [
        ...tool(POETRY),
        `python3 -m venv ${VENV}`,
        `VIRTUAL_ENV=${VENV} PATH=${VENV}/bin:$PATH ${TOOLS}/bin/poetry install --no-interaction --no-ansi${isPackage ? '' : ' --no-root'}`,
        ...withPytest(`${VENV}/bin/pip install`),
      ]),
    };
  }
  const required = pathsBelow(files, folder, (path) => REQUIREMENTS.test(path));
  if (required.length === 0 && !isPythonProject(files, folder)) return undefined;
  const inside = required.map((path) => (folder === '' ? path : path.slice(folder.length + 1)));
  const read = withIncluded(files, required);
  const needsSources = isPackage || read.needsSources;
  const itself = isPackage ? [`--editable ${shellQuote(`.${extrasOf(project)}`)}`] : [];
  const wanted = [...inside.map((path) => `--requirement ${shellQuote(path)}`), ...itself];
  return {
    ...base,
    files: needsSources ? 'all' : [...read.paths].sort(),
    ...step('pip', [
      `python3 -m venv ${VENV}`,
      ...(wanted.length === 0 ? [] : [`${VENV}/bin/pip install ${PIP} ${wanted.join(' ')}`]),
      ...withPytest(`${VENV}/bin/pip install ${PIP}`),
    ]),
    notes:
      required.length === 0
        ? ['No file says which versions of packages are needed: the newest ones are installed.']
        : [],
  };
}

const PIP = '--no-input --no-cache-dir --disable-pip-version-check';

function tool(requirement: string): readonly string[] {
  return [`python3 -m venv ${TOOLS}`, `${TOOLS}/bin/pip install ${PIP} ${requirement}`];
}

/** Nobody names pytest who has it on the machine; the newest one then. */
function withPytest(install: string): readonly string[] {
  return [`{ ${VENV}/bin/python -c 'import pytest' 2>/dev/null || ${install} pytest; }`];
}

function isPythonProject(files: FileTree, folder: string): boolean {
  const marks = ['pyproject.toml', 'setup.py', 'setup.cfg', 'pytest.ini', 'conftest.py', 'tox.ini'];
  if (marks.some((name) => files.has(within(folder, name)))) return true;
  return pathsBelow(files, folder, (path) => /^(?:tests?\/)?test_[^/]*\.py$/.test(path)).length > 0;
}

/** `-r` and `-c` of requirements, and whether one of them means a folder of the repository. */
function withIncluded(
  files: FileTree,
  start: readonly string[],
): { readonly paths: ReadonlySet<string>; readonly needsSources: boolean } {
  const paths = new Set<string>();
  let needsSources = false;
  const queue = [...start];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const text = textOf(files, path);
    if (paths.has(path) || text === undefined) continue;
    paths.add(path);
    for (const line of text.split('\n').map((part) => part.trim())) {
      const included = /^(?:-r|-c|--requirement|--constraint)[\s=]*(\S+)/.exec(line)?.[1];
      if (included !== undefined) {
        // URL takes `..` and `.` away.
        queue.push(
          decodeURIComponent(new URL(included, `file:///${encodeURI(path)}`).pathname.slice(1)),
        );
      } else if (
        /^(?:(?:-e|--editable)[\s=]*)?(?:\.|file:)/.test(line) ||
        /^(?:-e|--editable)[\s=]+(?!\w+\+|\w+:\/\/)/.test(line)
      ) {
        needsSources = true;
      }
    }
  }
  return { paths, needsSources };
}

function present(files: FileTree, folder: string, names: readonly string[]): readonly string[] {
  return names.map((name) => within(folder, name)).filter((path) => files.has(path));
}

function hasWorkspace(files: FileTree, folder: string): boolean {
  return /^\[tool\.uv\.(?:workspace|sources)/m.test(
    textOf(files, within(folder, 'pyproject.toml')) ?? '',
  );
}

function testExtras(project: Project | undefined): readonly string[] {
  const named = Object.keys(project?.project?.['optional-dependencies'] ?? {});
  return TEST_GROUPS.filter((name) => named.includes(name));
}

function extrasOf(project: Project | undefined): string {
  const extras = testExtras(project);
  return extras.length === 0 ? '' : `[${extras.join(',')}]`;
}

function readProject(text: string | undefined): Project | undefined {
  if (text === undefined) return undefined;
  try {
    return projectSchema.safeParse(parse(text)).data;
  } catch {
    return undefined;
  }
}

function pythonVersion(files: FileTree, folder: string): string {
  for (const place of new Set([folder, ''])) {
    const version = /^\s*(3\.\d+)/.exec(textOf(files, within(place, '.python-version')) ?? '')?.[1];
    if (version !== undefined) return version;
  }
  return DEFAULT_VERSION;
}
