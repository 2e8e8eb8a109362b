import { execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DAEMONS,
  type EngineKind,
  type EngineUser,
  findProgram,
  SYSTEM_FOLDERS,
} from './engine-daemons.ts';
import { type ImageContent, machineArchive } from './machine-image.ts';

/** A container engine for tests alone: its own daemon, its own data, one image of this machine's files. */
export interface TestEngine {
  readonly kind: EngineKind;
  /** For DOCKER_HOST. */
  readonly host: string;
  /** What the provider needs to find it and nothing else. */
  readonly variables: Readonly<Record<string, string>>;
  readonly home: string;
  readonly storage: string;
  docker(...args: readonly string[]): string;
  /** The same daemon over the same data, after `kill`. */
  start(): Promise<void>;
  /** Ends the daemon at once, with everything that runs in it. */
  kill(): Promise<void>;
  remove(): Promise<void>;
}

export type StartedEngine =
  | { readonly kind: 'engine'; readonly engine: TestEngine }
  /** Why no engine can be started here. */
  | { readonly kind: 'none'; readonly reason: string };

export const TEST_IMAGE = 'prime-agent-test:machine';

const START_MS = 60_000;

/** Starts a daemon as root, with overlays or else copies. Removed by `remove`. */
export async function startTestEngine(
  options: {
    readonly kind?: EngineKind;
    readonly dataRoot?: string;
    readonly image?: ImageContent;
    /** More arguments of the daemon. */
    readonly more?: readonly string[];
  } = {},
): Promise<StartedEngine> {
  if (process.platform !== 'linux') return none(`this is ${process.platform}, not Linux`);
  if (process.getuid?.() !== 0) return none('the tests do not run as root');
  const { kind = 'docker' } = options;
  const { programs, debian, storages } = DAEMONS[kind];
  for (const program of programs) {
    if (findProgram(program) === undefined)
      return none(`${program} is not installed (Debian: ${debian})`);
  }
  if (findProgram('docker', true) === undefined) return none('the docker command is not installed');
  const user = DAEMONS[kind].user?.();
  if (typeof user === 'string') return none(user);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'prime-dockerd-')));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  let said = '';
  for (const storage of storages) {
    const engine = createEngine(
      kind,
      folder,
      storage,
      options.dataRoot ?? join(folder, 'data'),
      options.more ?? [],
      user,
      (text) => {
        said = text;
      },
    );
    try {
      await engine.start();
      engine.docker('import', machineArchive(options.image ?? 'whole'), TEST_IMAGE);
      return { kind: 'engine', engine };
    } catch (error) {
      said = `${error instanceof Error ? error.message : error}\n${said}`;
      await engine.kill();
    }
  }
  rmSync(folder, { recursive: true, force: true });
  return none(`${programs[0]} does not start: ${said.trim().split('\n').slice(-3).join(' | ')}`);
}

function none(reason: string): StartedEngine {
  return { kind: 'none', reason };
}

function createEngine(
  kind: EngineKind,
  folder: string,
  storage: string,
  dataRoot: string,
  more: readonly string[],
  user: EngineUser | undefined,
  onLog: (text: string) => void,
): TestEngine {
  const host = `unix://${folder}/docker.sock`;
  const client = findProgram('docker', true) ?? 'docker';
  let child: ReturnType<typeof spawn> | undefined;
  let exited: Promise<void> = Promise.resolve();
  const docker = (...args: readonly string[]): string =>
    execFileSync(client, ['--host', host, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: folder },
      maxBuffer: 64 * 1024 * 1024,
    });
  const pids = (): number[] =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          // containerd, its shims and the daemon name the folder.
          return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(folder);
        } catch {
          return false;
        }
      })
      .map(Number)
      .filter((pid) => pid !== process.pid);
  const engine: TestEngine = {
    kind,
    host,
    variables: { DOCKER_HOST: host },
    home: folder,
    storage,
    docker,
    start: async () => {
      let log = '';
      // Podman's own limits are higher than a test machine may allow.
      writeFileSync(
        join(folder, 'containers.conf'),
        '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n',
      );
      const [program = '', ...args] = DAEMONS[kind].command({ folder, dataRoot, storage, host });
      // It ends with us, however we end.
      const command = [findProgram(program) ?? program, ...args, ...more];
      const as = user ? [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'] : [];
      child = spawn('setpriv', ['--pdeathsig', 'KILL', ...as, ...command], {
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
        // Podman's monitor leaves a file there when memory was short.
        cwd: folder,
        env: {
          PATH: SYSTEM_FOLDERS.join(':'),
          HOME: folder,
          XDG_RUNTIME_DIR: folder,
          CONTAINERS_CONF: join(folder, 'containers.conf'),
        },
      });
      const started = child;
      let code: number | null | undefined;
      exited = new Promise((resolve) => {
        started.once('error', () => resolve());
        started.once('exit', (status) => {
          code = status ?? 1;
          resolve();
        });
      });
      started.stderr?.on('data', (chunk: Buffer) => {
        log = (log + chunk.toString()).slice(-8192);
        onLog(log);
      });
      const end = performance.now() + START_MS;
      for (;;) {
        try {
          docker('version');
          return;
        } catch {
          if (code !== undefined) {
            const last = log.trim().split('\n').slice(-3).join(' | ');
            throw new Error(`it ended with code ${code}: ${last}`);
          }
          if (performance.now() > end) throw new Error('it did not answer in time');
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      }
    },
    kill: async () => {
      if (child === undefined) return;
      // The daemon first, so that it sees nothing of the end of the others.
      child.kill('SIGKILL');
      await exited;
      // Everything of this engine names its folder; nothing else does.
      for (let round = 0; round < 20; round++) {
        const left = pids();
        if (left.length === 0) break;
        for (const pid of left) {
          try {
            process.kill(pid, 'SIGKILL');
          } catch {}
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      child = undefined;
      rmSync(join(folder, 'docker.pid'), { force: true });
      // Where nobody reaps it, a dead containerd looks alive to the next daemon.
      rmSync(join(folder, 'exec/containerd/containerd.pid'), { force: true });
      unmountBelow(join(folder, 'exec'));
    },
    remove: async () => {
      try {
        const ids = docker('ps', '-aq').trim().split('\n').filter(Boolean);
        if (ids.length > 0) docker('rm', '-f', '-v', ...ids);
      } catch {}
      await engine.kill();
      unmountBelow(folder);
      unmountBelow(dataRoot);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
  return engine;
}

function unmountBelow(folder: string): void {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${folder}/`))
    .reverse();
  for (const mount of mounts) {
    try {
      execFileSync('umount', ['-l', mount], { stdio: 'ignore' });
    } catch {}
  }
}
