import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { z } from 'zod';
import { runProgram } from '../../platform/run-program.ts';
import type { ToolchainResult, ToolchainWishes, WorkspaceFiles } from '../framework.ts';
import { currentHost, type Host, neededMounts, pathFolders } from '../host.ts';
import { isTracked, withOuter } from '../workspace-files.ts';
import probeScript from './probe.py';

const PROBE_TIMEOUT_MS = 20_000;
const LOOKUP_TIMEOUT_MS = 10_000;
const INSTALL_PYTEST = ' && .venv/bin/python -m pip install pytest';

const probed = z.object({
  version: z.string(),
  prefix: z.string(),
  base: z.string(),
  executable: z.string(),
  real: z.string(),
  stdlib: z.string(),
  paths: z.array(z.string()),
  userBase: z.string().nullable(),
  pytest: z.string().nullable(),
  pytestAt: z.string().optional(),
  pytestError: z.string().optional(),
  editable: z.array(z.string()),
});
type Probed = z.infer<typeof probed>;

interface Candidate {
  readonly program: string;
  /** `in .venv`. */
  readonly where: string;
  /** Command that installs pytest there. */
  readonly install: string;
  /** It came with the repository. */
  readonly tracked?: boolean;
}

/**
 * The first interpreter that has pytest (or simply the first one): a chosen one, the workspace's own environment, the one of its
 * manager (poetry, pipenv, conda, pyenv), then PATH. Starts interpreters only to ask them.
 */
export async function findPython(
  workspace: WorkspaceFiles,
  host: Host = currentHost(),
  wishes: ToolchainWishes = {},
  needsPytest = true,
): Promise<ToolchainResult> {
  let first: { readonly candidate: Candidate; readonly found: Probed } | undefined;
  let refused: Candidate | undefined;
  const asked = new Set<string>();
  for await (const candidate of candidates(workspace, host, wishes)) {
    if (asked.has(candidate.program)) continue;
    asked.add(candidate.program);
    if (candidate.tracked) {
      refused ??= candidate;
      continue;
    }
    const found = await probe(candidate.program, host);
    if (!found) continue;
    if (found.pytest !== null || !needsPytest)
      return toolchainOf(host, workspace, candidate, found, needsPytest);
    first ??= { candidate, found };
  }
  if (refused) {
    return {
      kind: 'missing',
      reason: `The interpreter ${refused.where} is part of the repository itself, so it is not run on your machine.`,
      remedy: `Make an environment of your own: rename that folder, then python3 -m venv .venv${needsPytest ? INSTALL_PYTEST : ''}`,
    };
  }
  if (first) {
    const { candidate, found } = first;
    const why = found.pytestError?.startsWith('ModuleNotFoundError: No module named')
      ? 'has no pytest'
      : `cannot import pytest (${found.pytestError ?? 'unknown error'})`;
    return {
      kind: 'missing',
      reason: `Python ${found.version} ${candidate.where} ${why}.`,
      remedy: `Install it there: ${candidate.install}`,
    };
  }
  return {
    kind: 'missing',
    reason: 'No Python was found: neither an environment of the workspace nor python3 on PATH.',
    remedy: `Install Python 3, then: python3 -m venv .venv${needsPytest ? INSTALL_PYTEST : ''}`,
  };
}

async function* candidates(
  workspace: WorkspaceFiles,
  host: Host,
  { python }: ToolchainWishes,
): AsyncGenerator<Candidate> {
  if (python !== undefined) yield chosen(python, workspace);
  for (const place of withOuter(workspace)) yield* ownEnvironments(place);
  const active = host.env.VIRTUAL_ENV;
  if (active?.startsWith('/')) yield environment(active, 'in the active environment');
  const { root } = workspace;
  if (await workspace.exists('poetry.lock')) {
    const folder = await ask(['poetry', 'env', 'info', '-p'], root, host);
    if (folder) {
      yield { ...environment(folder, 'of poetry'), install: 'poetry add --group dev pytest' };
    }
  }
  if (await workspace.exists('Pipfile')) {
    const folder = await ask(['pipenv', '--venv'], root, host);
    if (folder)
      yield { ...environment(folder, 'of pipenv'), install: 'pipenv install --dev pytest' };
  }
  const conda = await condaEnvironment(workspace, host);
  if (conda)
    yield { ...environment(conda, 'of conda'), install: `conda install -p ${conda} pytest` };
  yield* pyenv(workspace, host);
  for (const name of ['python3', 'python']) {
    for (const folder of pathFolders(host)) {
      const program = join(folder, name);
      yield { program, where: `at ${program}`, install: `${program} -m pip install pytest` };
    }
  }
}

async function chosen(program: string, workspace: WorkspaceFiles): Promise<Candidate> {
  const root = withOuter(workspace).at(-1)?.root ?? workspace.root;
  const inside = relative(root, installationOf(program));
  const own = inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
  return {
    program,
    where: `chosen in the editor (${program})`,
    tracked: own && (await isTracked(root, inside)),
    install: `${program} -m pip install pytest`,
  };
}

async function* ownEnvironments(workspace: WorkspaceFiles): AsyncGenerator<Candidate> {
  const uv = await workspace.exists('uv.lock');
  for (const folder of ['.venv', 'venv', 'env']) {
    if (!(await workspace.exists(`${folder}/bin/python`))) continue;
    yield {
      program: join(workspace.root, folder, 'bin/python'),
      where: `in ${folder}`,
      tracked: await isTracked(workspace.root, folder),
      install: uv ? 'uv add --dev pytest' : `${folder}/bin/python -m pip install pytest`,
    };
  }
}

function environment(folder: string, where: string): Candidate {
  const program = join(folder, 'bin/python');
  return { program, where: `${where} (${folder})`, install: `${program} -m pip install pytest` };
}

/** First line that a manager prints, when it is there and answers in time. */
async function ask(argv: readonly string[], cwd: string, host: Host): Promise<string | undefined> {
  const [program = '', ...args] = argv;
  const result = await runProgram(program, args, {
    cwd,
    timeoutMs: LOOKUP_TIMEOUT_MS,
    env: { PATH: host.env.PATH, HOME: host.home, LC_ALL: 'C', NO_COLOR: '1' },
  });
  const line = result.stdout.trim().split('\n')[0];
  return result.code === 0 && line?.startsWith('/') ? line : undefined;
}

async function condaEnvironment(
  workspace: WorkspaceFiles,
  host: Host,
): Promise<string | undefined> {
  const active = host.env.CONDA_PREFIX;
  const text =
    (await workspace.readText('environment.yml')) ?? (await workspace.readText('environment.yaml'));
  const name = text && /^name:\s*["']?([\w.-]+)/m.exec(text)?.[1];
  if (name) {
    const bases = ['miniconda3', 'anaconda3', 'miniforge3', 'mambaforge', '.conda'];
    const roots = [host.env.CONDA_ROOT, ...bases.map((base) => join(host.home, base))];
    for (const base of roots) {
      if (!base) continue;
      const folder = join(base, 'envs', name);
      if (await realpath(join(folder, 'bin/python')).catch(() => undefined)) return folder;
    }
  }
  return active?.startsWith('/') ? active : undefined;
}

/** The interpreter behind pyenv's shim: the shim itself needs pyenv and its settings. */
async function* pyenv(workspace: WorkspaceFiles, host: Host): AsyncGenerator<Candidate> {
  const root = host.env.PYENV_ROOT ?? join(host.home, '.pyenv');
  const wanted = (await workspace.readText('.python-version'))?.split('\n') ?? [];
  for (const version of wanted
    .map((line) => line.trim())
    .filter((line) => /^[\w.-]+$/.test(line))) {
    const folder = join(root, 'versions', version);
    yield environment(folder, `of pyenv, from .python-version`);
  }
}

async function probe(program: string, host: Host): Promise<Probed | undefined> {
  const found = await realpath(program).catch(() => undefined);
  if (found === undefined) return undefined;
  const result = await runProgram(program, ['-B', '-c', probeScript], {
    timeoutMs: PROBE_TIMEOUT_MS,
    cwd: '/',
    env: {
      PATH: host.env.PATH,
      HOME: host.home,
      LC_ALL: 'C.UTF-8',
      ...(host.env.PYENV_ROOT && { PYENV_ROOT: host.env.PYENV_ROOT }),
    },
  });
  if (result.code !== 0) return undefined;
  try {
    return probed.parse(JSON.parse(result.stdout.trim().split('\n').at(-1) ?? ''));
  } catch {
    return undefined;
  }
}

/** The user's own PYTHONPATH as far as it means the workspace (`PYTHONPATH=src pytest`). */
function pythonPath(host: Host, root: string): { PYTHONPATH?: string } {
  const entries = (host.env.PYTHONPATH ?? '')
    .split(':')
    .filter(
      (entry) => entry !== '' && (!entry.startsWith('/') || `${entry}/`.startsWith(`${root}/`)),
    );
  return entries.length > 0 ? { PYTHONPATH: entries.join(':') } : {};
}

function toolchainOf(
  host: Host,
  workspace: WorkspaceFiles,
  candidate: Candidate,
  found: Probed,
  needsPytest: boolean,
): ToolchainResult {
  // `executable` is the program itself also behind a shim; a venv's must stay unresolved.
  const program = found.executable;
  const isVenv = found.prefix !== found.base;
  const user =
    found.userBase && found.pytestAt?.startsWith(`${found.userBase}/`) ? found.userBase : undefined;
  const outer = (path: string): boolean =>
    !path.startsWith(`${found.prefix}/`) && !path.startsWith(`${found.base}/`);
  const needed = [
    found.prefix,
    found.base,
    // A base that links to another installation (Homebrew, uv, Debian's alternatives).
    installationOf(found.real),
    ...found.paths.filter(
      (path) =>
        outer(path) &&
        path !== '/' &&
        (user !== undefined || !path.startsWith(`${found.userBase}/`)),
    ),
    ...found.editable.filter(outer),
  ];
  return {
    kind: 'found',
    program,
    detail: `Python ${found.version} ${candidate.where}${needsPytest ? `, pytest ${found.pytest}` : ''}`,
    toolchain: {
      path: [dirname(program)],
      mounts: neededMounts(
        needed.filter((path) => path.endsWith('.zip') === false),
        withOuter(workspace).at(-1)?.root ?? workspace.root,
      ),
      env: {
        ...(isVenv && { VIRTUAL_ENV: found.prefix }),
        ...(user && { PYTHONUSERBASE: user }),
        ...pythonPath(host, withOuter(workspace).at(-1)?.root ?? workspace.root),
      },
    },
  };
}

/** Folder above `bin/` of a program. */
function installationOf(program: string): string {
  const bin = dirname(program);
  return bin.endsWith('/bin') ? dirname(bin) : bin;
}
