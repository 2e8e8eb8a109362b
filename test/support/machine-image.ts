import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { findProgram } from './engine-daemons.ts';

/** As scripts/lib/steps.mjs has it. */
const CACHE =
  process.env.PRIME_AGENT_HOME ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'prime-agent');

/** `small`: bash and coreutils alone. `installers`: npm and pip in place of pytest. */
export type ImageContent = 'whole' | 'small' | 'installers';

const PROGRAMS =
  'bash sh echo cat head tail timeout rm mv cp ln mkdir rmdir chmod chown stat realpath readlink sha256sum cksum ls touch date sleep seq sort tr cut wc tee printf env id uname df dd mkfifo mknod mktemp basename dirname expr test true false yes od uniq nproc truncate du tac paste whoami hostname sync grep sed awk find xargs diff cmp tar gzip base64 ps pkill kill setsid unshare prlimit script mount git node getent';

const HEAVY = new Set(['node', 'git']);

/**
 * The files of an image: the programs of this machine that tests need, with their libraries. So neither a registry
 * nor a network is needed, and Node, Python and pytest are those that the local sandbox sees. Every file of
 * tests that starts an engine needs one; collecting it takes seconds, so it is kept for as long as the programs stay the same.
 * Returns the path of a tar archive.
 */
export function machineArchive(size: ImageContent): string {
  const python = size === 'small' ? undefined : ownPython();
  const folder = join(CACHE, 'test-images');
  const archive = join(folder, `${size}-${fingerprint(size, python)}.tar`);
  if (existsSync(archive)) return archive;
  mkdirSync(folder, { recursive: true });
  const made = mkdtempSync(join(folder, 'new-'));
  try {
    collect(join(made, 'root'), size, python);
    const owner = ['--owner=0', '--group=0'];
    execFileSync('tar', ['-C', join(made, 'root'), ...owner, '-cf', join(made, 'tar'), '.']);
    // Another run may have been faster: the same files then.
    renameSync(join(made, 'tar'), archive);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return archive;
}

function collect(root: string, size: ImageContent, python: OwnPython | undefined): void {
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
  if (python !== undefined) programs.push(...copyPython(root, size, python));
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

interface OwnPython {
  readonly program: string;
  readonly library: string;
  /** Where pytest is; empty: there is none. */
  readonly packages: string;
}

function ownPython(): OwnPython {
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
  return { program, library, packages };
}

const PYTEST = /^(pytest|_pytest|pluggy|iniconfig|packaging|pygments|py|exceptiongroup|tomli)\b/i;

/** What decides on the content: other programs, another Python or pytest, other code here. */
function fingerprint(size: ImageContent, python: OwnPython | undefined): string {
  const files = [
    ...PROGRAMS.split(' ').map((name) => findProgram(name, true)),
    ...(python ? [python.program, join(python.library, 'os.py')] : []),
    ...(size === 'installers' ? [findProgram('npm')] : []),
    import.meta.filename,
  ];
  const states = files.map((file) => {
    if (file === undefined) return null;
    const real = realpathSync(file);
    const { size: bytes, mtimeMs } = statSync(real);
    return [real, bytes, mtimeMs];
  });
  const packages = python?.packages
    ? readdirSync(python.packages).filter((name) => PYTEST.test(name))
    : [];
  return createHash('sha256')
    .update(JSON.stringify([states, python, packages.sort()]))
    .digest('hex')
    .slice(0, 16);
}

/** Returns the files whose libraries are needed. */
function copyPython(root: string, size: ImageContent, python: OwnPython): string[] {
  const { program, library, packages } = python;
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
    if (!PYTEST.test(name)) continue;
    cpSync(join(packages, name), join(root, purelib, name), {
      recursive: true,
      filter: (source) => !source.endsWith('/__pycache__'),
    });
  }
  return needed;
}
