import { detectFrameworks } from '../frameworks/detect.ts';
import { openWorkspaceFiles } from '../frameworks/workspace-files.ts';
import { runProgram } from '../platform/run-program.ts';
import { stateFolder } from '../platform/state-folder.ts';
import { findLocalServers } from '../policies/discovery.ts';
import { sandboxProviders } from '../sandbox/providers.ts';

/** Something that is there, or is missing. */
export interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'missing' | 'note';
  readonly detail: string;
  readonly remedy?: string;
}

export interface DoctorOptions {
  /** The host's variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Image that the Docker sandbox is tried with. */
  readonly dockerImage?: string | undefined;
}

/**
 * What is there, what is missing and how to get it. Tries the sandbox, starts no test.
 *
 * @param root absolute path of a workspace; without one nothing is said about tests
 */
export async function examine(
  root: string | undefined,
  options: DoctorOptions,
): Promise<readonly Finding[]> {
  const { signal } = options;
  return [
    ...(await Promise.all([node(), git(), search()])),
    ...(await sandboxes(options)),
    ...(root === undefined ? [] : await frameworks(root)),
    ...(await models(signal)),
  ];
}

async function node(): Promise<Finding> {
  return { what: 'Node', state: 'ok', detail: process.versions.node };
}

async function git(): Promise<Finding> {
  const { code, stdout } = await runProgram('git', ['--version'], { timeoutMs: 5_000 });
  if (code === 0)
    return { what: 'git', state: 'ok', detail: stdout.trim().replace('git version ', '') };
  return {
    what: 'git',
    state: 'missing',
    detail: 'not found; snapshots and patches need it',
    remedy: 'Install git with your package manager.',
  };
}

async function search(): Promise<Finding> {
  const { code, stdout } = await runProgram('rg', ['--version'], { timeoutMs: 5_000 });
  if (code === 0) return { what: 'ripgrep', state: 'ok', detail: stdout.split('\n', 1)[0] ?? '' };
  return {
    what: 'ripgrep',
    state: 'note',
    detail: 'not found; searching is slower without',
    remedy: 'Install ripgrep with your package manager.',
  };
}

/** One working sandbox is enough. */
async function sandboxes({ environment, dockerImage }: DoctorOptions): Promise<readonly Finding[]> {
  const stateDir = stateFolder(environment);
  const all = await sandboxProviders({ stateDir, environment, dockerImage });
  const providers = all.filter((provider) => provider.kind !== 'none');
  const states = await Promise.all(
    providers.map(async (provider) => ({ provider, state: await provider.availability() })),
  );
  const works = states.some(({ state }) => state.available);
  return states.map(({ provider, state }) => {
    const what = `sandbox (${provider.kind})`;
    if (state.available) return { what, state: 'ok', detail: state.detail } as const;
    return {
      what,
      state: works ? 'note' : 'missing',
      detail: state.reason,
      remedy: state.remedy,
    } as const;
  });
}

async function frameworks(root: string): Promise<readonly Finding[]> {
  const workspace = openWorkspaceFiles(root);
  const detected = await detectFrameworks(workspace).catch(() => []);
  const findings: Finding[] = [];
  for (const { framework, detection } of detected) {
    const what = `${framework.label}${detection.projectPath ? ` in ${detection.projectPath}` : ''}`;
    const toolchain = await framework.toolchain(workspace);
    if (toolchain.kind === 'found') findings.push({ what, state: 'ok', detail: toolchain.detail });
    else
      findings.push({ what, state: 'missing', detail: toolchain.reason, remedy: toolchain.remedy });
  }
  if (findings.length === 0)
    findings.push({
      what: 'tests',
      state: 'note',
      detail: `no test framework is recognised in ${root}`,
    });
  return findings;
}

async function models(signal: AbortSignal): Promise<readonly Finding[]> {
  const servers = await findLocalServers({ signal });
  if (servers.length === 0) {
    return [
      {
        what: 'local models',
        state: 'note',
        detail:
          'no Ollama, llama.cpp, LM Studio or vLLM answers on its usual port; edit-search needs none',
      },
    ];
  }
  return servers.map((server) => ({
    what: server.name,
    state: 'ok',
    detail: `${server.baseUrl}: ${server.models.join(', ') || 'no model loaded'}`,
    remedy: server.models[0]
      ? `prime-agent fix --policy ${server.baseUrl} --model ${server.models[0]}`
      : undefined,
  }));
}
