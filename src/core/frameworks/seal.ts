import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Code under test may share a process with the reporter, and with it the descriptor of the report.
 * So each line of a report carries its number and a check value, made with a key of this run that the
 * reporter has read, and kept to itself, before any code of the project was loaded. A line from
 * elsewhere, a line left out, one told twice or in another order shows.
 *
 * A line is `NUMBER CHECK JSON`; the check value is the first 16 bytes of
 * SHA-256(key, `NUMBER TYPE STATUS`, key), in hex. The rest of the text is not part of it: sandboxes
 * that mount nothing put `/workspace` in the place of the folder's real path on the way.
 */
export interface OpenedReport {
  /** The lines that our reporter wrote, without seals. */
  readonly report: Uint8Array;
  /** What is wrong with the report as a whole, in words. */
  readonly signs: readonly string[];
}

const SEALED = /^(\d{1,15}) ([0-9a-f]{32}) (\{.*\})$/s;

/** @param cut bytes in the middle of the report are missing: gaps and odd lines are no signs then */
export function openSealed(sealed: Uint8Array, key: string, cut: boolean): OpenedReport {
  const signs = new Set<string>();
  const kept: string[] = [];
  let last = 0;
  // The last line may have been cut off by the end of the run.
  const lines = Buffer.from(sealed).toString('utf8').split('\n').slice(0, -1);
  for (const line of lines) {
    if (line.trim() === '') continue;
    const [, digits = '', check = '', text = ''] = SEALED.exec(line) ?? [];
    const number = Number(digits);
    if (!isGenuine(key, number, text, check)) {
      if (!cut) signs.add('the report holds lines that its reporter did not write');
      continue;
    }
    if (number <= last) {
      signs.add('the report holds a line twice');
      continue;
    }
    if (number > last + 1 && !cut) signs.add('lines of the report are missing');
    last = number;
    kept.push(text);
  }
  return { report: Buffer.from(kept.map((text) => `${text}\n`).join('')), signs: [...signs] };
}

function isGenuine(key: string, number: number, text: string, check: string): boolean {
  const told = typeAndStatus(text);
  if (told === undefined) return false;
  const given = Buffer.from(check, 'hex');
  return given.length === 16 && timingSafeEqual(checkOf(key, number, told), given);
}

function checkOf(key: string, number: number, told: string): Buffer {
  return createHash('sha256').update(`${key}${number} ${told}${key}`).digest().subarray(0, 16);
}

/** Seals lines as a reporter with this key does: for runs that are answered without a reporter. */
export function sealReport(report: Uint8Array, key: string): Uint8Array {
  const lines = Buffer.from(report).toString('utf8').split('\n');
  const sealed = lines
    .filter((line) => line !== '')
    .map((line, index) => {
      const number = index + 1;
      const check = checkOf(key, number, typeAndStatus(line) ?? '').toString('hex');
      return `${number} ${check} ${line}\n`;
    });
  return Buffer.from(sealed.join(''));
}

function typeAndStatus(text: string): string | undefined {
  try {
    const { type, status = '' } = JSON.parse(text) as { type?: unknown; status?: unknown };
    return `${String(type)} ${String(status)}`;
  } catch {
    return undefined;
  }
}
