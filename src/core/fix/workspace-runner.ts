import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { stateFolder } from '../platform/state-folder.ts';
import { createPathMapping } from '../sandbox/path-mapping.ts';
import type { ExecResult, SandboxSession, Toolchain } from '../sandbox/sandbox.ts';
import { createScratch } from '../sandbox/scratch.ts';
import { HeadAndTail } from '../sandbox/supervisor/output.ts';
import { writeToolbox } from '../sandbox/toolbox.ts';

/** Runs programs in the user's own workspace and environment, as the user would: for the parity check only. */
export interface WorkspaceRunner {
  run: SandboxSession['run'];
  close(): Promise<void>;
}

/** Caches of test runners stay out of the user's folder. */
const QUIET = {
  PYTHONDONTWRITEBYTECODE: '1',
  CI: '1',
  NO_COLOR: '1',
  DISABLE_V8_COMPILE_CACHE: '1',
};

export async function openWorkspaceRunner(
  root: string,
  toolchain: Toolchain,
  toolbox: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<WorkspaceRunner> {
  const { folder, remove } = await createScratch(stateFolder(environment));
  await writeToolbox(folder, toolbox);
  const mapping = createPathMapping({ layer: root, toolbox: folder, workspacePath: root });
  const path = [...toolchain.path, environment.PATH ?? ''].join(delimiter);

  const run: SandboxSession['run'] = (request, options) =>
    new Promise<ExecResult>((resolve, reject) => {
      const began = performance.now();
      const kept = new HeadAndTail(options.maxOutputBytes);
      const replacer = mapping.fromHost();
      const [program = '', ...args] = request.argv.map(mapping.toHost);
      const given = Object.entries(request.env ?? {}).map(([name, value]) => [
        name,
        mapping.toHost(value),
      ]);
      const child = spawn(program, args, {
        cwd: mapping.toHost(request.cwd ?? '/workspace'),
        env: {
          ...environment,
          ...toolchain.env,
          PATH: path,
          ...QUIET,
          // Jest's, which has no variable of its own for it (see jest/run.asset.cjs).
          PRIME_JEST_CACHE: join(folder, 'cache'),
          ...Object.fromEntries(given),
        },
        // A group of its own, so that a timeout ends what the tests started as well.
        detached: true,
        stdio: ['pipe', 'pipe', request.capture === 'stdout' ? 'ignore' : 'pipe'],
      });
      let end: ExecResult['end'] | undefined;
      const stop = (kind: 'timeout' | 'cancelled'): void => {
        end ??= { kind };
        if (child.pid !== undefined) killGroup(child.pid);
      };
      const timer = setTimeout(() => stop('timeout'), options.timeoutMs);
      const abort = (): void => stop('cancelled');
      options.signal?.addEventListener('abort', abort, { once: true });
      if (options.signal?.aborted) abort();
      const take = (chunk: Buffer): void => kept.push(replacer.push(chunk));
      child.stdout?.on('data', take);
      child.stderr?.on('data', take);
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(request.stdin);
      const settle = (): void => {
        clearTimeout(timer);
        options.signal?.removeEventListener('abort', abort);
      };
      child.on('error', (error) => {
        settle();
        reject(error);
      });
      child.on('close', (code) => {
        settle();
        kept.push(replacer.end());
        const durationMs = performance.now() - began;
        resolve({
          end: end ?? { kind: 'exited', code: code ?? 137 },
          output: kept.result(),
          durationMs,
        });
      });
    });

  return { run, close: remove };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}
