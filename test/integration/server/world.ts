import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { checkConfig } from '../../../server/src/config.ts';
import { openFolders } from '../../../server/src/folders.ts';
import { type RunningServer, type ServeOptions, serve } from '../../../server/src/serve.ts';
import { openDatabase } from '../../../server/src/store/database.ts';
import { createTokenStore } from '../../../server/src/store/tokens.ts';
import { createConsentStore, type Permit } from '../../../src/core/outbox/consent.ts';
import { previewOf } from '../../../src/core/outbox/preview.ts';
import type { UploadBegin } from '../../../src/core/protocol/client-messages.ts';
import type { Role } from '../../../src/core/protocol/values.ts';
import { createRedactor } from '../../../src/core/redaction/redactor.ts';
import { toJsonLines } from '../../../src/core/trajectories/export.ts';
import type { Trajectory } from '../../../src/core/trajectories/trajectory.ts';
import { tempFolder } from '../../support/temp.ts';
import { end, header, turn } from '../../unit/core/trajectories/make.ts';

export interface World {
  readonly data: string;
  readonly server: RunningServer;
  readonly lines: readonly string[];
  token(role?: Role, name?: string): string;
}

/** A server in this process, with a data folder of its own; both go with the test. */
export async function startWorld(
  config: Record<string, unknown> = {},
  options: Partial<Pick<ServeOptions, 'workerFile' | 'env'>> & { readonly data?: string } = {},
): Promise<World> {
  const data = options.data ?? (await tempFolder());
  const lines: string[] = [];
  const server = await serve({
    config: checkConfig({ listen: { port: 0 }, ...config }, 'test'),
    version: '0.0.0',
    write: (line) => lines.push(line),
    ...options,
    data,
  });
  onTestFinished(() => server.close());
  return { data, server, lines, token: (role, name) => makeToken(data, role, name) };
}

export function makeToken(data: string, role: Role = 'contributor', name = 'alice'): string {
  const db = openDatabase(openFolders(data).database);
  try {
    return createTokenStore(db).create(name, role).token;
  } finally {
    db.close();
  }
}

/** A complete record; `padding` makes it larger, with text that packs badly. */
export function trajectory(attemptId: string = randomUUID(), padding = 0): Trajectory {
  const text = padding === 0 ? 'fixed' : noise(attemptId, padding);
  const first = turn(0);
  return {
    header: header({ attemptId }),
    turns: [{ ...first, reply: { ...first.reply, content: text } }],
    end: end({ totals: { turns: 1, promptTokens: 10, completionTokens: 3, durationMs: 5 } }),
    cut: false,
  };
}

function noise(seed: string, length: number): string {
  let text = '';
  for (let count = 0; text.length < length; count++) {
    text += createHash('sha512').update(`${seed} ${count}`).digest('base64');
  }
  return text.slice(0, length);
}

/** An upload by hand: what is announced, and the bytes. */
export function packed(
  content: Trajectory | string,
  over: Partial<UploadBegin> = {},
): { readonly begin: UploadBegin; readonly bytes: Buffer } {
  const text = Buffer.from(typeof content === 'string' ? content : toJsonLines(content));
  const bytes = gzipSync(text);
  const begin: UploadBegin = {
    type: 'upload.begin',
    upload: sha256(bytes),
    bytes: bytes.length,
    encoding: 'gzip',
    contentSha256: sha256(text),
    contentBytes: text.length,
    attemptId: typeof content === 'string' ? 'a-1' : content.header.attemptId,
    ...over,
  };
  return { begin, bytes };
}

/** A permit as somebody gives it, for tests of what comes after. */
export async function permit(): Promise<Permit> {
  const shown = await previewOf(trajectory('shown'), createRedactor({ workspacePath: '/shop' }));
  return createConsentStore(await tempFolder()).allow('/shop', shown);
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Attempts that the database of a data folder holds, with duplicates if there were any. */
export function storedAttempts(data: string): readonly string[] {
  const db = openDatabase(openFolders(data).database);
  try {
    const rows = db.prepare('SELECT attempt_id FROM trajectories ORDER BY attempt_id').pluck();
    return rows.all().map(String);
  } finally {
    db.close();
  }
}

export interface ServerProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** The server's own, also where another program started it. */
  readonly pid: number;
}

export interface Programs {
  readonly server: string;
  readonly client: string;
  readonly worker: string;
}

const here = new URL('./programs', import.meta.url).pathname;
const PROGRAMS: Readonly<Record<keyof Programs, string>> = {
  server: join(here, 'serve-main.ts'),
  client: join(here, 'client-main.ts'),
  // As the product has it.
  worker: new URL('../../../server/src/worker/main.ts', import.meta.url).pathname,
};
const fileOf = (name: keyof Programs): string => (name === 'worker' ? 'server-worker' : name);

/** The programs of a suite, bundled inside the checkout, where the native package is found. */
export function bundledPrograms(...names: readonly (keyof Programs)[]): () => Programs {
  const folder = join(process.cwd(), 'node_modules', `.server-tests-${process.pid}`);
  beforeAll(async () => {
    const lib = new URL('../../../scripts/lib/bundle.mjs', import.meta.url).href;
    const { serverOptions } = await import(/* @vite-ignore */ lib);
    const entryPoints = Object.fromEntries(names.map((name) => [fileOf(name), PROGRAMS[name]]));
    await build({ ...serverOptions, entryPoints, outdir: folder });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const at = (name: keyof Programs): string => join(folder, `${fileOf(name)}.js`);
  return () => ({ server: at('server'), client: at('client'), worker: at('worker') });
}

/** `prefix`: a program that starts it, such as strace. */
export async function startServerProcess(
  file: string,
  data: string,
  port: number,
  prefix: readonly string[] = [],
  config: Record<string, unknown> = {},
): Promise<ServerProcess> {
  const own = [process.execPath, file, data, String(port), JSON.stringify(config)];
  const [command = '', ...args] = [...prefix, ...own];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const piece of child.stdout ?? []) {
    text += String(piece);
    if (text.includes('\n')) break;
  }
  if (!text.startsWith('http')) throw new Error(`the server did not start: ${text}`);
  child.stdout?.resume();
  const [url = '', pid] = text.trim().split(' ');
  return { child, url, pid: Number(pid) };
}

export async function kill(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}
