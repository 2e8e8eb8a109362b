import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  DAEMONS,
  type EngineKind,
  type EngineUser,
  findProgram,
  SYSTEM_FOLDERS,
} from './engine-daemons.ts';

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

/** `small`: bash and coreutils alone. `installers`: npm and pip in place of pytest. */
type ImageContent = 'whole' | 'small' | 'installers';

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
      importMachine(engine, folder, options.image ?? 'whole');
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

const PROGRAMS =
  'bash sh echo cat head tail timeout rm mv cp ln mkdir rmdir chmod chown stat realpath readlink sha256sum cksum ls touch date sleep seq sort tr cut wc tee printf env id uname df dd mkfifo mknod mktemp basename dirname expr test true false yes od uniq nproc truncate du tac paste whoami hostname sync grep sed awk find xargs diff cmp tar gzip base64 ps pkill kill setsid unshare prlimit script mount git node getent';

const HEAVY = new Set(['node', 'git']);

/**
 * An image of the programs of this machine that tests need, with their libraries: neither a registry
 * nor a network is needed, and Node, Python and pytest are those that the local sandbox sees.
 */
function importMachine(engine: TestEngine, folder: string, size: ImageContent): void {
  const root = join(folder, 'image');
  for (const name of [
    'usr/bin',
    'usr/lib',
    'usr/sbin',
    'etc',
    'tmp',
    'proc',
    'sys',
    'dev',
    'run',
    'var',
    'root',
    'home',
    'opt',
  ])
    mkdirSync(join(root, name), { recursive: true });
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    if (!lstatSync(`/${name}`, { throwIfNoEntry: false })) continue;
    mkdirSync(join(root, 'usr', name), { recursive: true });
    symlinkSync(`usr/${name}`, join(root, name));
  }
  const programs: string[] = [];
  for (const name of PROGRAMS.split(' ')) {
    if (size === 'small' && HEAVY.has(name)) continue;
    const program = findProgram(name, true);
    if (program === undefined) continue;
    const real = realpathSync(program);
    cpSync(real, join(root, 'usr/bin', name));
    programs.push(real);
  }
  if (size !== 'small') programs.push(...copyPython(root, size));
  if (size === 'installers') copyNpm(root);
  // The machine's Python may lie in root's home, which no image lets others look into.
  chmodSync(join(root, 'root'), 0o711);
  copyLibraries(root, programs);
  const locale = '/usr/lib/locale/C.utf8';
  if (existsSync(locale)) cpSync(locale, join(root, locale), { recursive: true });
  // As in any distribution's image: users and files that say something about it.
  writeFileSync(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/bash\nother:x:33:33::/:/bin/sh\n',
  );
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\n');
  writeFileSync(join(root, 'etc/shadow'), 'root:*:1::::::\n', { mode: 0o600 });
  execFileSync(
    'bash',
    [
      '-c',
      'tar -C "$1" --owner=0 --group=0 -c . | "$2" --host "$3" import - "$4"',
      'import',
      root,
      findProgram('docker', true) ?? 'docker',
      engine.host,
      TEST_IMAGE,
    ],
    { stdio: 'ignore', env: { PATH: process.env.PATH, HOME: folder } },
  );
  rmSync(root, { recursive: true, force: true });
}

function copyLibraries(root: string, programs: readonly string[]): void {
  const { stdout } = spawnSync('ldd', programs, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const found = [...stdout.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map((match) => match[1] ?? '');
  for (const library of new Set(found)) {
    const target = join(root, library.replace(/^\/(lib|lib64|lib32)\//, '/usr/$1/'));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(realpathSync(library), target);
  }
  // What packages with machine code are linked to, beside the libraries of programs.
  const libc = found.find((library) => library.endsWith('/libc.so.6'));
  for (const name of LIBC) {
    const library = join(dirname(libc ?? '/lib'), name);
    if (!existsSync(library)) continue;
    copyFileSync(
      realpathSync(library),
      join(root, library.replace(/^\/(lib|lib64|lib32)\//, '/usr/$1/')),
    );
  }
}

const LIBC = ['librt.so.1', 'libpthread.so.0', 'libdl.so.2', 'libm.so.6', 'libgcc_s.so.1'];

function copyNpm(root: string): void {
  const found = findProgram('npm');
  if (found === undefined) throw new Error('npm is not on PATH');
  // …/npm/bin/npm-cli.js
  const script = realpathSync(found);
  const place = 'usr/lib/node_modules/npm';
  cpSync(dirname(dirname(script)), join(root, place), { recursive: true, verbatimSymlinks: true });
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/bin', name));
}

/** Returns the files whose libraries are needed. */
function copyPython(root: string, size: ImageContent): string[] {
  const said = execFileSync(
    'python3',
    [
      '-c',
      `import sys, os, sysconfig
print(os.path.realpath(sys.executable)); print(sysconfig.get_path("stdlib"))
try:
    import pytest; print(os.path.dirname(os.path.dirname(pytest.__file__)))
except ImportError: print("")`,
    ],
    { encoding: 'utf8' },
  );
  const [program = '', library = '', packages = ''] = said.split('\n');
  mkdirSync(dirname(join(root, program)), { recursive: true });
  copyFileSync(program, join(root, program));
  if (!existsSync(join(root, 'usr/bin/python3')))
    symlinkSync(program, join(root, 'usr/bin/python3'));
  const unwanted =
    size === 'installers'
      ? /\/(test|tests|idlelib|tkinter|site-packages|dist-packages|__pycache__|config-[^/]*)$/
      : /\/(test|tests|idlelib|tkinter|ensurepip|site-packages|dist-packages|__pycache__|config-[^/]*)$/;
  cpSync(library, join(root, library), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !unwanted.test(source),
  });
  const extensions = join(library, 'lib-dynload');
  const files = existsSync(extensions) ? readdirSync(extensions) : [];
  const needed = [program, ...files.map((name) => join(extensions, name))];
  if (packages === '' || size === 'installers') return needed;
  // In the image no environment is active, so its packages go where the interpreter itself looks.
  const purelib = execFileSync(
    program,
    ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"), end="")'],
    { encoding: 'utf8' },
  );
  for (const name of readdirSync(packages)) {
    if (
      !/^(pytest|_pytest|pluggy|iniconfig|packaging|pygments|py|exceptiongroup|tomli)\b/i.test(name)
    )
      continue;
    cpSync(join(packages, name), join(root, purelib, name), {
      recursive: true,
      filter: (source) => !source.endsWith('/__pycache__'),
    });
  }
  return needed;
}
