import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { runProgram } from '../../platform/run-program.ts';
import type { ToolchainResult, WorkspaceFiles } from '../framework.ts';
import { currentHost, type Host, neededMounts, pathFolders } from '../host.ts';
import { withOuter } from '../workspace-files.ts';

const PROBE_TIMEOUT_MS = 20_000;

const probed = z.object({
  GOROOT: z.string().startsWith('/'),
  GOMODCACHE: z.string().startsWith('/'),
  GOVERSION: z.string(),
  GOFLAGS: z.string(),
  GOEXPERIMENT: z.string().optional(),
});

/** The first `go` on PATH or in its usual folder. It is asked outside of the workspace. */
export async function findGo(
  workspace: WorkspaceFiles,
  host: Host = currentHost(),
): Promise<ToolchainResult> {
  const root = withOuter(workspace).at(-1)?.root ?? workspace.root;
  for (const folder of [...pathFolders(host), '/usr/local/go/bin', '/usr/lib/go/bin']) {
    const program = await realpath(join(folder, 'go')).catch(() => undefined);
    if (program === undefined || program.startsWith(`${root}/`)) continue;
    const found = await askGo(program, host);
    if (!found) continue;
    const bin = join(found.GOROOT, 'bin');
    return {
      kind: 'found',
      program: join(bin, 'go'),
      detail: `Go ${found.GOVERSION.replace(/^go/, '')} in ${found.GOROOT}`,
      toolchain: {
        path: [bin],
        mounts: neededMounts([found.GOROOT, found.GOMODCACHE], root),
        env: {
          GOROOT: found.GOROOT,
          GOMODCACHE: found.GOMODCACHE,
          // The snapshot's repository is not the user's: a stamp of it would say nothing.
          GOFLAGS: `${found.GOFLAGS} -buildvcs=false`.trim(),
          ...(found.GOEXPERIMENT && { GOEXPERIMENT: found.GOEXPERIMENT }),
        },
      },
    };
  }
  return {
    kind: 'missing',
    reason: 'No Go was found on PATH or in /usr/local/go.',
    remedy: 'Install Go from go.dev/dl or from your system (apt-get install golang-go).',
  };
}

/** Go counts its own use in the folder of settings, also after it has ended: it gets none, and the settings. */
async function askGo(program: string, host: Host): Promise<z.output<typeof probed> | undefined> {
  const settings = host.env.XDG_CONFIG_HOME || join(host.home, '.config');
  const result = await runProgram(program, ['env', '-json', ...Object.keys(probed.shape)], {
    timeoutMs: PROBE_TIMEOUT_MS,
    cwd: '/',
    env: {
      PATH: host.env.PATH,
      HOME: host.home,
      GOTOOLCHAIN: 'local',
      // macOS looks for neither there.
      ...(process.platform !== 'darwin' && {
        XDG_CONFIG_HOME: '/dev/null',
        GOENV: host.env.GOENV || join(settings, 'go/env'),
      }),
      ...chosen(host, ['GOROOT', 'GOPATH', 'GOMODCACHE', 'GOFLAGS']),
    },
  });
  return result.code === 0 ? readProbe(result.stdout) : undefined;
}

function chosen(host: Host, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = host.env[name];
      return value ? [[name, value]] : [];
    }),
  );
}

function readProbe(text: string): z.output<typeof probed> | undefined {
  try {
    return probed.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
