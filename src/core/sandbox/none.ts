import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runProgram } from '../platform/run-program.ts';
import { stateFolder } from '../platform/state-folder.ts';
import { copyTree } from './copy-tree.ts';
import { sandboxEnvironment } from './environment.ts';
import { createSandboxFiles } from './files.ts';
import { createPathMapping } from './path-mapping.ts';
import {
  type SandboxAvailability,
  SandboxFailure,
  type SandboxProvider,
  type SandboxSession,
  type SandboxSpec,
} from './sandbox.ts';
import { openInScratch, type Scratch } from './scratch.ts';
import { attachSupervisor } from './supervisor/attach.ts';
import supervisorScript from './supervisor/supervisor.sh';
import { createSupervisorClient } from './supervisor/supervisor-client.ts';
import { writeToolbox } from './toolbox.ts';

async function findBash(): Promise<SandboxAvailability> {
  const result = await runProgram('bash', [
    '-c',
    'printf %s "$' + '{BASH_VERSINFO[0]}.$' + '{BASH_VERSINFO[1]}"',
  ]);
  if (result.code !== 0) {
    return { available: false, reason: 'bash was not found', remedy: 'Install bash 4.4 or newer.' };
  }
  const [major = 0, minor = 0] = result.stdout.split('.').map(Number);
  if (major < 4 || (major === 4 && minor < 4)) {
    return {
      available: false,
      reason: `bash ${result.stdout} is too old`,
      remedy: 'Install bash 4.4 or newer and put it first on PATH (macOS: brew install bash).',
    };
  }
  return {
    available: true,
    detail: `no isolation: commands run as you, in a copy (bash ${result.stdout})`,
  };
}

/** Dependencies are links to the user's folders: seen, never copied. Git does not count them. */
async function linkDependencies(spec: SandboxSpec, layer: string): Promise<void> {
  for (const { path, hostPath } of spec.base.dependencies) {
    const link = join(layer, path);
    await mkdir(dirname(link), { recursive: true });
    await symlink(hostPath, link);
    await appendFile(join(layer, '.git', 'info', 'exclude'), `/${path}\n`).catch(() => {});
  }
}

async function openSession(spec: SandboxSpec, scratch: Scratch): Promise<SandboxSession> {
  const at = (name: string): string => join(scratch.folder, name);
  const [layer, toolbox, home, tmp, own] = [
    at('work'),
    at('toolbox'),
    at('home'),
    at('tmp'),
    at('own'),
  ];
  if (!/^[\w@%+=:,./-]+$/.test(layer)) {
    throw new SandboxFailure(
      `Without a sandbox, paths are written into commands, and ${layer} holds characters that a shell reads specially.`,
      'Set PRIME_AGENT_HOME to a folder whose path has only letters, digits and _ - . /',
    );
  }
  for (const folder of [layer, toolbox, home, tmp, own]) await mkdir(folder, { mode: 0o700 });
  await copyTree(spec.base.tree, layer);
  await linkDependencies(spec, layer);
  await writeToolbox(toolbox, spec.toolbox);
  const script = at('supervisor.sh');
  await writeFile(script, supervisorScript);
  const paths = createPathMapping({ layer, toolbox, workspacePath: spec.base.workspacePath });
  const mark = randomBytes(16).toString('hex');
  const variables = sandboxEnvironment(spec.toolchain, { home, tmp, user: 'user' });
  const env: Record<string, string> = { PRIME_SANDBOX: mark };
  for (const [name, value] of Object.entries(variables)) env[name] = paths.toHost(value);
  const fileKib = Math.max(1, Math.floor(spec.limits.fileBytes / 1024));
  const child = spawn(
    'bash',
    ['--noprofile', '--norc', script, 'tree', own, layer, 'bash', String(fileKib), '0', mark],
    // Its own session: no terminal, and Ctrl-C in ours does not reach it before we decide.
    { cwd: layer, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const client = createSupervisorClient(attachSupervisor(child), {
    workspace: layer,
    paths,
    describe: 'none',
    closeMs: 10_000,
  });
  try {
    await client.ready();
  } catch (error) {
    await client.close();
    throw error;
  }
  let closing: Promise<void> | undefined;
  return {
    kind: 'none',
    files: createSandboxFiles(client, { paths }),
    shell: client.shell,
    run: client.run,
    restartShell: client.restartShell,
    close: () => {
      closing ??= client.close().then(() => scratch.remove());
      return closing;
    },
  };
}

/**
 * No isolation: commands run as the user, in a copy of the snapshot. Only after consent.
 * The processes of a session end by their place in the process tree and by a mark in their
 * environment; one that leaves the tree and clears its environment is not found.
 */
export function createNoneSandbox(options: { readonly stateDir?: string } = {}): SandboxProvider {
  let known: Promise<SandboxAvailability> | undefined;
  const availability = (): Promise<SandboxAvailability> => {
    known ??= findBash();
    return known;
  };
  return {
    kind: 'none',
    availability,
    open: async (spec, signal) => {
      const state = await availability();
      if (!state.available) throw new SandboxFailure(state.reason, state.remedy);
      return openInScratch(options.stateDir ?? stateFolder(), signal, (scratch) =>
        openSession(spec, scratch),
      );
    },
  };
}
