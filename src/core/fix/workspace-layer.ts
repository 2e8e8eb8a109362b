import { constants } from 'node:fs';
import { cp, lstat, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { findProgram } from '../platform/find-program.ts';
import { runProgram } from '../platform/run-program.ts';
import { shellQuote } from '../platform/shell-quote.ts';
import type { DependencyFolder } from '../sandbox/sandbox.ts';

/** The user's workspace, in which programs can write without a change to it. */
export interface WorkspaceLayer {
  /** Where the workspace is seen: at the user's own path, or in a copy. */
  readonly folder: string;
  /** What starts a program there. @param cwd absolute host path */
  command(argv: readonly string[], cwd: string): readonly string[];
}

export interface LayerRequest {
  /** Absolute host path of the workspace. */
  readonly root: string;
  readonly dependencies: readonly DependencyFolder[];
  /** A folder of ours; the layer goes with it. */
  readonly scratch: string;
  /** The host's variables: where programs are. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `copy`: never an overlay, also where one works. */
  readonly layers?: 'auto' | 'copy';
  readonly signal?: AbortSignal | undefined;
}

const PROBE_TIMEOUT_MS = 20_000;
const MOST_BYTES = 4 * 2 ** 30;
const MOST_ENTRIES = 300_000;
/** Outputs of builds: large, and of no use at another path. */
const OUTPUTS = new Set(['target', '.gradle', '_build']);

/**
 * An overlay over the workspace at its own path, in a mount namespace of its own; network, user and
 * everything else are the user's. Where the kernel refuses that, a copy.
 */
export async function openWorkspaceLayer(
  request: LayerRequest,
): Promise<
  | { readonly kind: 'layer'; readonly layer: WorkspaceLayer }
  | { readonly kind: 'unavailable'; readonly reason: string }
> {
  if (request.layers !== 'copy' && process.platform === 'linux') {
    const layer = await overlay(request);
    if (layer !== undefined) return { kind: 'layer', layer };
  }
  try {
    return { kind: 'layer', layer: await copy(request) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: 'unavailable', reason: `${request.root} could not be copied: ${message}` };
  }
}

async function overlay(request: LayerRequest): Promise<WorkspaceLayer | undefined> {
  const { root, scratch, environment } = request;
  const unshare = await findProgram('unshare', environment);
  if (unshare === undefined) return undefined;
  const folders = await writableFolders(request);
  const names = folders.flatMap((_, index) => [`upper${index}`, `work${index}`]);
  await Promise.all(['stage', ...names].map((name) => mkdir(join(scratch, name))));
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  // A user namespace gives the right to mount, and another one inside of it the user back.
  const back = [unshare, '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--'];
  const ways = [
    ...(uid === 0 ? [{ name: 'root.sh', user: [], back: [] }] : []),
    { name: 'user.sh', user: ['--user', '--map-root-user'], back },
  ];
  for (const { name, user, back } of ways) {
    const script = join(scratch, name);
    await writeFile(script, overlayScript(scratch, folders, back));
    const start = [unshare, ...user, ...namespaces, '--', 'bash', '--noprofile', '--norc', script];
    const command: WorkspaceLayer['command'] = (argv, cwd) => [...start, cwd, ...argv];
    const [program = '', ...args] = command(['true'], root);
    const probe = await runProgram(program, args, {
      timeoutMs: PROBE_TIMEOUT_MS,
      env: { PATH: environment.PATH },
    });
    if (probe.code === 0) return { folder: root, command };
  }
  return undefined;
}

/** The workspace, what is mounted below it, and dependencies that its links lead to. */
async function writableFolders({ root, dependencies }: LayerRequest): Promise<readonly string[]> {
  const inside = (path: string): boolean => path.startsWith(`${root}/`);
  const text = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const mounted = text.split('\n').map((line) => {
    const place = line.split(' ')[4] ?? '';
    return place.replace(/\\(\d{3})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 8)),
    );
  });
  const outside: string[] = [];
  for (const { hostPath } of dependencies) {
    if (hostPath === '' || hostPath === root || inside(hostPath)) continue;
    const isFolder = await stat(hostPath).then(
      (info) => info.isDirectory(),
      () => false,
    );
    // Of folders inside of each other the outer one is enough.
    if (isFolder && !root.startsWith(`${hostPath}/`)) outside.push(hostPath);
  }
  const outermost = [...new Set(outside)].filter(
    (folder) => !outside.some((other) => folder.startsWith(`${other}/`)),
  );
  return [root, ...mounted.filter(inside).sort(), ...outermost];
}

/** `bash SCRIPT CWD PROGRAM ARGUMENT…`, as root of a mount namespace of its own. */
function overlayScript(
  scratch: string,
  folders: readonly string[],
  back: readonly string[],
): string {
  const system = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const lines = [
    'set -e',
    `cd -- ${shellQuote(scratch)}`,
    `${system} mount -n -t tmpfs -o mode=700 stage stage`,
  ];
  // Overlay's options give some characters in paths a meaning, so that plain names are mounted.
  folders.forEach((folder, index) => {
    const options = `lowerdir=stage/l${index},upperdir=upper${index},workdir=work${index},userxattr`;
    lines.push(
      `${system} mkdir stage/l${index} stage/m${index}`,
      `${system} mount -n --rbind -- ${shellQuote(folder)} stage/l${index}`,
      `${system} mount -n -t overlay overlay -o ${options} stage/m${index}`,
    );
  });
  folders.forEach((folder, index) => {
    lines.push(`${system} mount -n --bind stage/m${index} ${shellQuote(folder)}`);
  });
  lines.push('cd -- "$1"', 'shift', `exec ${[...back.map(shellQuote), '"$@"'].join(' ')}`, '');
  return lines.join('\n');
}

async function copy(request: LayerRequest): Promise<WorkspaceLayer> {
  const { root, dependencies, scratch, signal } = request;
  const outputs = new Set(
    dependencies
      .filter(({ path }) => OUTPUTS.has(basename(path)))
      .map(({ path }) => join(root, path)),
  );
  let bytes = 0;
  let entries = 0;
  const folder = join(scratch, 'copy');
  await cp(root, folder, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
    filter: async (source) => {
      signal?.throwIfAborted();
      if (outputs.has(source)) return false;
      const info = await lstat(source);
      // Sockets and pipes belong to whoever made them.
      if (!info.isFile() && !info.isDirectory() && !info.isSymbolicLink()) return false;
      entries += 1;
      bytes += info.isFile() ? info.size : 0;
      if (entries > MOST_ENTRIES || bytes > MOST_BYTES) {
        throw new Error(`it holds more than ${MOST_BYTES / 2 ** 30} GiB or ${MOST_ENTRIES} files`);
      }
      return true;
    },
  });
  return { folder, command: (argv) => argv };
}
