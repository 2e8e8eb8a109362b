import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { runProgram } from '../../platform/run-program.ts';
import type { ToolchainResult, WorkspaceFiles } from '../framework.ts';
import { currentHost, type Host, neededMounts, pathFolders } from '../host.ts';
import { withOuter } from '../workspace-files.ts';

const PROBE_TIMEOUT_MS = 20_000;

/** The cargo that the project gets: rustup's choice for its folder, else the first one on PATH. */
export async function findCargo(
  workspace: WorkspaceFiles,
  host: Host = currentHost(),
): Promise<ToolchainResult> {
  const root = withOuter(workspace).at(-1)?.root ?? workspace.root;
  let refused: string | undefined;
  for (const folder of [...pathFolders(host), join(host.home, '.cargo/bin')]) {
    const found = await realpath(join(folder, 'cargo')).catch(() => undefined);
    if (found === undefined) continue;
    const program = isProxy(found) ? await chosenByRustup(found, workspace, host) : found;
    if (program === undefined) {
      refused ??= found;
      continue;
    }
    // A tool chain that came with the repository is not started on this machine.
    if (program.startsWith(`${root}/`)) continue;
    const version = await runProgram(program, ['--version'], {
      timeoutMs: PROBE_TIMEOUT_MS,
      cwd: '/',
      env: environment(host),
    });
    const number = /^cargo (\S+)/.exec(version.stdout)?.[1];
    if (version.code !== 0 || number === undefined) continue;
    const bin = dirname(program);
    const home = host.env.CARGO_HOME ?? join(host.home, '.cargo');
    // Downloaded packages only: what else is in there may hold tokens.
    const caches = await existing([join(home, 'registry'), join(home, 'git')]);
    return {
      kind: 'found',
      program,
      detail: `cargo ${number} at ${program}`,
      toolchain: {
        path: [bin],
        mounts: neededMounts([basename(bin) === 'bin' ? dirname(bin) : bin, ...caches], root),
        env: caches.length > 0 ? { CARGO_HOME: home } : {},
      },
    };
  }
  if (refused !== undefined) {
    return {
      kind: 'missing',
      reason: 'rustup has no installed tool chain for this project.',
      remedy: 'Install it in the folder of the project: rustup toolchain install',
    };
  }
  return {
    kind: 'missing',
    reason: 'No cargo was found on PATH or in ~/.cargo/bin.',
    remedy: 'Install Rust from rustup.rs or from your system (apt-get install cargo).',
  };
}

/** rustup puts itself in the place of cargo. */
function isProxy(program: string): boolean {
  return basename(program) === 'rustup' || /\/\.cargo\/bin\/cargo$/.test(program);
}

async function chosenByRustup(
  proxy: string,
  workspace: WorkspaceFiles,
  host: Host,
): Promise<string | undefined> {
  const rustup = join(dirname(proxy), 'rustup');
  const result = await runProgram(rustup, ['which', 'cargo'], {
    timeoutMs: PROBE_TIMEOUT_MS,
    cwd: workspace.root,
    env: environment(host),
  });
  const path = result.stdout.trim();
  if (result.code !== 0 || !path.startsWith('/')) return undefined;
  return realpath(path).catch(() => undefined);
}

function environment(host: Host): NodeJS.ProcessEnv {
  const { PATH, RUSTUP_HOME, CARGO_HOME, RUSTUP_TOOLCHAIN } = host.env;
  return {
    ...{ PATH, HOME: host.home },
    ...(RUSTUP_HOME && { RUSTUP_HOME }),
    ...(CARGO_HOME && { CARGO_HOME }),
    ...(RUSTUP_TOOLCHAIN && { RUSTUP_TOOLCHAIN }),
    // Asking must not download anything.
    RUSTUP_AUTO_INSTALL: '0',
  };
}

async function existing(folders: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    const info = await stat(folder).catch(() => undefined);
    if (info?.isDirectory()) found.push(folder);
  }
  return found;
}
