import { Buffer } from 'node:buffer';
import type { RawPath } from './raw-path.ts';

export interface TarEntry {
  /** Without a leading `./` or a trailing `/`. */
  readonly path: RawPath;
  readonly kind: 'file' | 'link' | 'folder' | 'other';
  /** Permission bits. */
  readonly mode: number;
  /** Of a file: its bytes. Of a link: where it leads. Otherwise empty. */
  readonly content: Buffer;
  /** uid and gid that it gets; 0 where none is named. Only written, never read. */
  readonly owner?: number;
}

const BLOCK = 512;

/**
 * Reads what `tar -c` of GNU, BSD or busybox wrote: ustar with GNU or pax long names. Our own
 * reader, because names are bytes here and the libraries make text of them.
 * Throws on anything that is not a whole archive.
 */
export function readTar(archive: Uint8Array): TarEntry[] {
  const data = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const entries: TarEntry[] = [];
  const files = new Map<RawPath, TarEntry>();
  let longName: string | undefined;
  let longLink: string | undefined;
  for (let at = 0; ; ) {
    if (at + BLOCK > data.length) throw new Error('the tar archive is cut off');
    const header = data.subarray(at, at + BLOCK);
    if (header[0] === 0 && header.every((byte) => byte === 0)) return entries;
    checkSum(header);
    const size = number(header, 124, 12);
    const body = data.subarray(at + BLOCK, at + BLOCK + size);
    if (body.length < size) throw new Error('the tar archive is cut off');
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;

    const type = String.fromCharCode(header[156] ?? 0);
    if (type === 'L') {
      longName = text(body, 0, size);
      continue;
    }
    if (type === 'K') {
      longLink = text(body, 0, size);
      continue;
    }
    if (type === 'x') {
      const records = paxRecords(body);
      longName = records.get('path') ?? longName;
      longLink = records.get('linkpath') ?? longLink;
      continue;
    }
    if (type === 'g') continue;
    // GNU's own format has a space there, and times where the others have a prefix.
    const prefix = text(header, 257, 6) === 'ustar' ? text(header, 345, 155) : '';
    const short = text(header, 0, 100);
    const path = trim(longName ?? (prefix === '' ? short : `${prefix}/${short}`));
    const target = longLink ?? text(header, 157, 100);
    longName = undefined;
    longLink = undefined;
    const mode = number(header, 100, 8) & 0o7777;
    const entry = entryOf(path, type, mode, body, target, files);
    if (entry.kind === 'file') files.set(path, entry);
    entries.push(entry);
  }
}

function entryOf(
  path: RawPath,
  type: string,
  mode: number,
  body: Buffer,
  target: string,
  files: ReadonlyMap<RawPath, TarEntry>,
): TarEntry {
  switch (type) {
    case '0':
    case '\0':
    case '7':
      return { path, kind: 'file', mode, content: body };
    case '1': {
      // A second name of a file that came before.
      const first = files.get(trim(target));
      if (!first) throw new Error('the tar archive has a hard link to nothing');
      return { ...first, path };
    }
    case '2':
      return { path, kind: 'link', mode, content: Buffer.from(target, 'latin1') };
    case '5':
      return { path, kind: 'folder', mode, content: Buffer.alloc(0) };
    default:
      return { path, kind: 'other', mode, content: Buffer.alloc(0) };
  }
}

/** An archive that every tar reads. Files, links and folders only. */
export function writeTar(entries: readonly TarEntry[], mtimeSeconds: number): Buffer {
  const blocks: Buffer[] = [];
  const add = (
    path: RawPath,
    type: string,
    mode: number,
    body: Buffer,
    link: string,
    owner = 0,
  ): void => {
    const header = Buffer.alloc(BLOCK);
    header.write(path.slice(0, 100), 0, 'latin1');
    header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
    header.write(`${owner.toString(8).padStart(7, '0')}\0`, 108);
    header.write(`${owner.toString(8).padStart(7, '0')}\0`, 116);
    header.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write(`${Math.floor(mtimeSeconds).toString(8).padStart(11, '0')}\0`, 136);
    header.write('        ', 148);
    header.write(type, 156);
    header.write(link.slice(0, 100), 157, 'latin1');
    header.write('ustar  \0', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    blocks.push(header, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK));
  };
  const long = (type: string, value: string): void =>
    add('././@LongLink', type, 0, Buffer.from(`${value}\0`, 'latin1'), '');
  for (const entry of entries) {
    const path = entry.kind === 'folder' ? `./${entry.path}/` : `./${entry.path}`;
    const link = entry.kind === 'link' ? entry.content.toString('latin1') : '';
    if (link.length > 99) long('K', link);
    if (path.length > 99) long('L', path);
    if (entry.kind === 'link') add(path, '2', 0o777, Buffer.alloc(0), link, entry.owner);
    else if (entry.kind === 'folder') add(path, '5', entry.mode, Buffer.alloc(0), '', entry.owner);
    else add(path, '0', entry.mode, entry.content, '', entry.owner);
  }
  blocks.push(Buffer.alloc(2 * BLOCK));
  return Buffer.concat(blocks);
}

function trim(name: string): RawPath {
  return name.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
}

function text(data: Buffer, start: number, length: number): string {
  const field = data.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? field.length : end).toString('latin1');
}

/** Octal, or base 256 where the first bit is set (sizes above 8 GB, large user numbers). */
function number(data: Buffer, start: number, length: number): number {
  if (((data[start] ?? 0) & 0x80) !== 0) {
    let value = BigInt((data[start] ?? 0) & 0x7f);
    for (let at = start + 1; at < start + length; at++)
      value = value * 256n + BigInt(data[at] ?? 0);
    return Number(value);
  }
  return Number.parseInt(text(data, start, length).trim() || '0', 8);
}

function checkSum(header: Buffer): void {
  // The sum's own field counts as spaces. A plain loop: it runs over every header of an archive.
  let sum = 8 * 32;
  for (let at = 0; at < BLOCK; at++) if (at < 148 || at >= 156) sum += header[at] ?? 0;
  if (sum !== number(header, 148, 8)) throw new Error('the tar archive is damaged');
}

function paxRecords(body: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(32, at);
    const length = Number(body.subarray(at, space).toString('latin1'));
    if (space < 0 || !(length > 0)) break;
    const record = body.subarray(space + 1, at + length - 1).toString('latin1');
    const equals = record.indexOf('=');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}
