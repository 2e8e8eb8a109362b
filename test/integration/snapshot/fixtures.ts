import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createLocalSandbox } from '../../../src/core/sandbox/local/local.ts';
import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import type { SandboxSession } from '../../../src/core/sandbox/sandbox.ts';
import { type MadeBase, type MakeBaseOptions, makeBase } from '../../../src/core/snapshot/base.ts';
import { type ExtractedPatch, extractPatch } from '../../../src/core/snapshot/patch.ts';

/** A new folder, removed after the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'snapshot-test-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function write(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** A command of the system, with its arguments as they are. */
export function system(program: string, ...args: string[]): void {
  execFileSync('sh', ['-c', '"$@"', 'sh', program, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** git without the settings of whoever runs the tests. */
export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Jo',
      GIT_AUTHOR_EMAIL: 'jo@example.org',
      GIT_COMMITTER_NAME: 'Jo',
      GIT_COMMITTER_EMAIL: 'jo@example.org',
    },
  });
}

export function repository(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = join(temporaryFolder(), 'work');
  mkdirSync(folder);
  git(folder, 'init', '-q', '-b', 'trunk');
  write(folder, files);
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '-m', 'first');
  return folder;
}

export async function snapshot(
  workspace: string,
  options: Partial<MakeBaseOptions> = {},
): Promise<MadeBase> {
  const outcome = await makeBase(workspace, {
    stateDir: join(dirname(workspace), 'state'),
    ...options,
  });
  if (outcome.kind !== 'base') throw new Error(`${outcome.reason} ${outcome.remedy}`);
  return outcome.base;
}

/** Path → what is there: text of a file (`x ` in front if executable), `-> target` of a link. */
export function filesOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (prefix: string): void => {
    for (const name of readdirSync(join(folder, prefix)).sort()) {
      const path = prefix === '' ? name : `${prefix}/${name}`;
      if (path === '.git') continue;
      const stat = lstatSync(join(folder, path));
      if (stat.isDirectory()) visit(path);
      else if (stat.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(folder, path))}`;
      else {
        const text = readFileSync(join(folder, path), 'latin1');
        found[path] = (stat.mode & 0o100) !== 0 ? `x ${text}` : text;
      }
    }
  };
  visit('');
  return found;
}

/** One hash over names, bytes, modes and times of everything in a folder. */
export function fingerprint(folder: string): string {
  const hash = createHash('sha256');
  const visit = (path: string): void => {
    const stat = lstatSync(path, { bigint: true });
    hash.update(`${path}\0${stat.mode}\0${stat.mtimeNs}\0${stat.ino}\0`);
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
    else if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stat.isFile()) hash.update(readFileSync(path));
  };
  visit(folder);
  return hash.digest('hex');
}

/** Every blob of a repository, for what must not be found in it. */
export function allObjects(folder: string): string {
  return execFileSync('git', ['cat-file', '--batch', '--batch-all-objects'], {
    cwd: folder,
    encoding: 'latin1',
    maxBuffer: 64e6,
  });
}

/** A session over a base, closed after the test. */
export async function session(
  base: MadeBase,
  kind: 'none' | 'local' = 'none',
): Promise<SandboxSession> {
  const stateDir = dirname(dirname(dirname(base.tree)));
  const provider =
    kind === 'none' ? createNoneSandbox({ stateDir }) : createLocalSandbox({ stateDir });
  const opened = await provider.open({
    base,
    toolchain: { path: [], mounts: [], env: {} },
    toolbox: {},
    limits: { processes: 1024, fileBytes: 4 * 2 ** 30 },
  });
  onTestFinished(() => opened.close());
  return opened;
}

/** What the agent does. */
export async function act(opened: SandboxSession, command: string): Promise<void> {
  const result = await opened.shell(command, { timeoutMs: 30_000, maxOutputBytes: 10_000 });
  const said = Buffer.from(result.output.head).toString();
  if (result.end.kind !== 'exited' || result.end.code !== 0) {
    throw new Error(`${command}: ${JSON.stringify(result.end)} ${said}`);
  }
}

/** Kinds, modes, names, targets and hashes of everything in a session's workspace. */
export async function filesIn(opened: SandboxSession): Promise<string[]> {
  const script = `find . -path ./.git -prune -o ! -type d -printf '%y %m %P %l\\0' | sort -z; find . -path ./.git -prune -o -type f -exec sha256sum -z {} + | sort -z`;
  const found = await opened.run(
    { argv: ['bash', '-c', script] },
    { timeoutMs: 30_000, maxOutputBytes: 1_000_000 },
  );
  const lines = Buffer.from(found.output.head).toString('latin1').split('\0');
  if (lines.length < 2) throw new Error(`no answer: ${lines.join()}`);
  return lines;
}

export async function extract(
  opened: SandboxSession,
  base: MadeBase,
): Promise<Extract<ExtractedPatch, { kind: 'patch' }>> {
  const outcome = await extractPatch(opened, base);
  if (outcome.kind !== 'patch') throw new Error(outcome.reason);
  return outcome;
}
