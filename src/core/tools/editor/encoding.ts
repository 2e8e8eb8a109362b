import { isUtf8 } from 'node:buffer';

/**
 * Files as strings without loss. An edit must leave every byte that it does not touch as it is, in
 * any encoding, so text is searched and replaced in a *unit string*: one character per byte for
 * UTF-8 and Latin-1 (so invalid bytes survive), one per code unit for UTF-16.
 */

/** `latin1`: not valid UTF-8, and no byte sequence in it is a UTF-8 character either. */
export type Encoding = 'utf8' | 'latin1' | 'utf16le' | 'utf16be';

export interface FileUnits {
  readonly encoding: Encoding;
  /** Byte order mark, empty where there is none. Not part of `units`. */
  readonly bom: Uint8Array;
  readonly units: string;
  /** UTF-16 with an odd number of bytes: the last one. */
  readonly rest: Uint8Array;
}

const NONE = new Uint8Array(0);

/** Bytes that git looks at to tell binary files. */
const BINARY_PROBE = 8_000;

/** undefined: a binary file (a NUL byte near its start, and no byte order mark). */
export function toUnits(bytes: Uint8Array): FileUnits | undefined {
  const buffer = asBuffer(bytes);
  const [a, b, c] = buffer;
  if (a === 0xff && b === 0xfe) return utf16(buffer, 'utf16le');
  if (a === 0xfe && b === 0xff) return utf16(buffer, 'utf16be');
  if (buffer.subarray(0, BINARY_PROBE).includes(0)) return undefined;
  const bomLength = a === 0xef && b === 0xbb && c === 0xbf ? 3 : 0;
  const body = buffer.subarray(bomLength);
  const encoding = bomLength === 0 && isLatin1(body) ? 'latin1' : 'utf8';
  return {
    encoding,
    bom: buffer.subarray(0, bomLength),
    units: body.toString('latin1'),
    rest: NONE,
  };
}

export function toBytes(file: FileUnits): Uint8Array {
  return Buffer.concat([file.bom, encodeUnits(file.units, file.encoding), file.rest]);
}

/** Units for a text of the model. undefined: the encoding has no such characters. */
export function textToUnits(text: string, encoding: Encoding): string | undefined {
  if (encoding === 'utf16le' || encoding === 'utf16be') return text;
  if (encoding === 'utf8') return Buffer.from(text, 'utf8').toString('latin1');
  return /^[\0-\xff]*$/.test(text) ? text : undefined;
}

/** What the model sees of units; bytes that are no character show as U+FFFD. */
export function unitsToText(units: string, encoding: Encoding): string {
  return encoding === 'utf8' ? Buffer.from(units, 'latin1').toString('utf8') : units;
}

function utf16(buffer: Buffer, encoding: 'utf16le' | 'utf16be'): FileUnits | undefined {
  const end = buffer.length - (buffer.length % 2);
  const body = Buffer.from(buffer.subarray(2, end));
  if (encoding === 'utf16be') body.swap16();
  const units = body.toString('utf16le');
  if (units.slice(0, BINARY_PROBE).includes('\0')) return undefined;
  return {
    encoding,
    bom: buffer.subarray(0, 2),
    units,
    rest: buffer.subarray(end),
  };
}

function encodeUnits(units: string, encoding: Encoding): Uint8Array {
  if (encoding === 'utf8' || encoding === 'latin1') return Buffer.from(units, 'latin1');
  const bytes = Buffer.from(units, 'utf16le');
  return encoding === 'utf16be' ? bytes.swap16() : bytes;
}

function isLatin1(body: Buffer): boolean {
  // Every character beyond ASCII is a replacement: nothing in it is UTF-8.
  return !isUtf8(body) && !/[^\0-\x7f\ufffd]/.test(body.toString('utf8'));
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
