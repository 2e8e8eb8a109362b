import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** A process for as long as it lives: numbers are used again, start times are not. */
export interface ProcessMark {
  readonly pid: number;
  readonly started: string;
}

let own: Promise<ProcessMark> | undefined;

export function ownMark(): Promise<ProcessMark> {
  own ??= startOf(process.pid).then((started) => ({ pid: process.pid, started: started ?? '0' }));
  return own;
}

export async function isAlive(mark: ProcessMark): Promise<boolean> {
  return (await startOf(mark.pid)) === mark.started;
}

/** `123-456`, fit for names of files. */
export function formatMark(mark: ProcessMark): string {
  return `${mark.pid}-${mark.started}`;
}

export function parseMark(text: string): ProcessMark | undefined {
  const match = /^(\d+)-(\w+)/.exec(text);
  return match ? { pid: Number(match[1]), started: match[2] ?? '' } : undefined;
}

/** undefined: no such process. */
async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    try {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      // The name, in parentheses, may hold anything; the start is the 20th field after it.
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    } catch {
      return undefined;
    }
  }
  return new Promise((done) => {
    execFile('ps', ['-o', 'lstart=', '-p', String(pid)], (error, stdout) => {
      const text = stdout.trim().replace(/\W+/g, '_');
      done(error || text === '' ? undefined : text);
    });
  });
}
