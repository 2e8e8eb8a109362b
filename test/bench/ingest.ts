import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openFolders } from '../../server/src/folders.ts';
import { openDatabase } from '../../server/src/store/database.ts';
import { createTokenStore } from '../../server/src/store/tokens.ts';
import { connect } from '../../src/core/outbox/connection.ts';
import { toJsonLines } from '../../src/core/trajectories/export.ts';
import { packed, padded } from './ingest-records.ts';

/** 1,000 trajectories of 200 kB from 8 clients, next to a bare server that inserts the same bytes. */

const CLIENTS = 8;
const EACH = 125;
const CHARACTERS = 200_000;

interface Figures {
  readonly acknowledgedMs: readonly number[];
  readonly wallS: number;
  readonly peakMb: number;
  readonly stored: number;
}

/** @param programs bundled: `ingest-server` and `ingest-peer`. @returns rows of a table */
export async function ingestTimes(programs: string): Promise<string> {
  const ours = await measure(join(programs, 'ingest-server.mjs'), sendOurs);
  const peer = await measure(join(programs, 'ingest-peer.mjs'), sendToPeer);
  return [row('prime-agent serve', ours), row('bare Fastify + better-sqlite3', peer)].join('\n');
}

type Send = (url: string, token: string, ids: readonly string[]) => Promise<number[]>;

async function measure(program: string, send: Send): Promise<Figures> {
  const data = await mkdtemp(join(tmpdir(), 'prime-agent-bench-'));
  const db = openDatabase(openFolders(data).database);
  const { token } = createTokenStore(db).create('bench', 'contributor');
  db.close();
  const child = spawn(process.execPath, [program, data], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const url = await firstLine(child);
    const began = performance.now();
    const all = await Promise.all(
      Array.from({ length: CLIENTS }, (_, client) =>
        send(
          url,
          token,
          Array.from({ length: EACH }, (_, index) => `c${client}-${index}`),
        ),
      ),
    );
    const wallS = (performance.now() - began) / 1000;
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
    const peakMb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
    const gone = once(child, 'exit');
    child.stdin?.end();
    await gone;
    return { acknowledgedMs: all.flat(), wallS, peakMb, stored: storedIn(data) };
  } finally {
    child.kill('SIGKILL');
    await rm(data, { recursive: true, force: true });
  }
}

/** One connection, one upload after the other; from its last byte to its acknowledgement. */
const sendOurs: Send = async (url, token, ids) => {
  const connection = await connect({ url, token }, { name: 'bench', version: '0' });
  const times: number[] = [];
  for (const id of ids) {
    const { begin, bytes } = packed(toJsonLines(padded(id, CHARACTERS)), id);
    connection.send(begin);
    let began = performance.now();
    for (;;) {
      const message = await connection.next();
      if (message?.type === 'upload.ready') {
        await connection.sendChunk({ upload: begin.upload, offset: 0, bytes });
        began = performance.now();
      } else if (message?.type === 'upload.stored') break;
      else if (message?.type !== 'upload.progress') throw new Error(JSON.stringify(message));
    }
    times.push(performance.now() - began);
  }
  connection.close();
  return times;
};

const sendToPeer: Send = async (url, _token, ids) => {
  const times: number[] = [];
  for (const id of ids) {
    const { bytes } = packed(toJsonLines(padded(id, CHARACTERS)), id);
    const began = performance.now();
    const response = await fetch(`${url}/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: new Uint8Array(bytes),
    });
    if (!response.ok) throw new Error(`${response.status}`);
    await response.text();
    times.push(performance.now() - began);
  }
  return times;
};

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('no output');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the server did not start');
}

function storedIn(data: string): number {
  const db = openDatabase(openFolders(data).database);
  try {
    const peer = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'bare'").get();
    const table = peer === undefined ? 'trajectories' : 'bare';
    return Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  } finally {
    db.close();
  }
}

function row(name: string, { acknowledgedMs, wallS, peakMb, stored }: Figures): string {
  const sorted = [...acknowledgedMs].sort((a, b) => a - b);
  const at = (part: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(
      0,
    );
  return `| ${name} | ${stored} | ${at(0.5)} | ${at(0.99)} | ${wallS.toFixed(1)} | ${peakMb.toFixed(0)} |`;
}
