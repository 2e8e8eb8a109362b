import { Buffer } from 'node:buffer';

/**
 * A relative path with forward slashes, one character per byte (latin1), because names need not be
 * valid UTF-8 and must not be mixed up. Sorts in the order of its bytes, as git sorts.
 */
export type RawPath = string;

const NOT_ASCII = /[^\0-\x7f]/;

export function toRawPath(path: string): RawPath {
  return NOT_ASCII.test(path) ? Buffer.from(path, 'utf8').toString('latin1') : path;
}

/** For people and interfaces; bytes that are not UTF-8 become U+FFFD. */
export function fromRawPath(path: RawPath): string {
  return NOT_ASCII.test(path) ? Buffer.from(path, 'latin1').toString('utf8') : path;
}

export function isUtf8Path(path: RawPath): boolean {
  return toRawPath(fromRawPath(path)) === path;
}

/** What `node:fs` takes for `folder/path`. */
export function hostPath(folder: RawPath, path: RawPath): string | Buffer {
  const joined = path === '' ? folder : `${folder}/${path}`;
  return NOT_ASCII.test(joined) ? Buffer.from(joined, 'latin1') : joined;
}

export function parentPath(path: RawPath): RawPath {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

/** `a/b/c` → `a`, `a/b`. */
export function* parentPaths(path: RawPath): Generator<RawPath> {
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    yield path.slice(0, slash);
  }
}

export function baseName(path: RawPath): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Order of bytes. */
export function compareRaw(a: RawPath, b: RawPath): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Output of a command with `-z`. */
export function splitNul(output: Uint8Array): RawPath[] {
  const text = Buffer.from(output.buffer, output.byteOffset, output.byteLength).toString('latin1');
  const parts = text.split('\0');
  if (parts.at(-1) === '') parts.pop();
  return parts;
}

/** Input of a command with `-z`. */
export function joinNul(paths: Iterable<RawPath>): Buffer {
  let text = '';
  for (const path of paths) text += `${path}\0`;
  return Buffer.from(text, 'latin1');
}

/** No absolute, empty or climbing path, and nothing inside a `.git`. */
export function isPlainPath(path: RawPath): boolean {
  return path
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && !/^\.git$/i.test(part));
}
