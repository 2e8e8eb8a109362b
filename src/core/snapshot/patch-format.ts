import { fromRawPath, type RawPath, toRawPath } from './raw-path.ts';

export interface PatchFile {
  /** Relative to the workspace; the new name where a patch of other origin renames. */
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted';
  readonly binary: boolean;
}

export interface PatchPart extends PatchFile {
  /** A patch of its own. A file that becomes a link (or the other way) is one part, not two. */
  readonly patch: string;
  /** Every path that the part reads or writes, as bytes: two for a rename. */
  readonly touches: readonly RawPath[];
  /** Hash of the file before, where the patch says it in full. */
  readonly oldBlob: string | undefined;
}

/**
 * Splits a git patch into its files. Parts in their order, joined, are the patch again (without what
 * stands before the first file). Not a git patch: no parts.
 */
export function parsePatch(patch: string): PatchPart[] {
  // Not the `m` flag: its `^` also stands behind \r and U+2028, which occur inside of lines.
  const sections = patch.split(/(?<![^\n])(?=diff --git )/);
  const parts: PatchPart[] = [];
  for (const section of sections) {
    if (!section.startsWith('diff --git ')) continue;
    const part = readSection(section);
    const before = parts.at(-1);
    if (before && before.path === part.path && before.status === 'deleted') {
      parts[parts.length - 1] = {
        ...before,
        status: 'modified',
        binary: before.binary || part.binary,
        patch: before.patch + part.patch,
      };
    } else {
      parts.push(part);
    }
  }
  return parts;
}

/** Lines of the header, up to the first hunk or the binary data. */
function headerOf(section: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < section.length; ) {
    const end = section.indexOf('\n', at);
    const line = section.slice(at, end < 0 ? section.length : end);
    if (line.startsWith('@@ ') || line === 'GIT binary patch') break;
    lines.push(line);
    at = end < 0 ? section.length : end + 1;
  }
  return lines;
}

function readSection(section: string): PatchPart {
  const header = headerOf(section);
  const value = (prefix: string): string | undefined =>
    header.find((line) => line.startsWith(prefix))?.slice(prefix.length);
  const added = value('new file mode ') !== undefined;
  const deleted = value('deleted file mode ') !== undefined;
  const from = rawName(value('rename from ') ?? value('copy from '));
  const to = rawName(value('rename to ') ?? value('copy to '));
  const path =
    to ?? samePath(header[0]?.slice('diff --git '.length) ?? '') ?? namedPath(header) ?? '';
  return {
    path: fromRawPath(path),
    status: added ? 'added' : deleted ? 'deleted' : 'modified',
    binary: /\n(GIT binary patch\n|Binary files )/.test(section),
    patch: section,
    touches: from !== undefined && from !== path ? [from, path] : [path],
    oldBlob: /^([0-9a-f]{40})\.\./.exec(value('index ') ?? '')?.[1],
  };
}

/** `a/NAME b/NAME`, either of them quoted where it needs to be. */
function samePath(names: string): RawPath | undefined {
  if (names.startsWith('"')) {
    const end = /^"(?:[^"\\]|\\.)*"/.exec(names)?.[0];
    return rawName(end)?.slice(2);
  }
  const length = (names.length - 5) / 2;
  const name = names.slice(2, 2 + length);
  return Number.isInteger(length) && names === `a/${name} b/${name}` ? toRawPath(name) : undefined;
}

/** From `+++ b/NAME` or `--- a/NAME`. */
function namedPath(header: readonly string[]): RawPath | undefined {
  for (const prefix of ['+++ ', '--- ']) {
    const line = header.find((candidate) => candidate.startsWith(prefix));
    // git puts a tab behind names with spaces.
    const name = rawName(line?.slice(prefix.length).replace(/\t$/, ''));
    if (name !== undefined && name !== '/dev/null') return name.slice(2);
  }
  return undefined;
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Takes git's quoting of odd names away: C escapes and octal bytes. */
function rawName(name: string | undefined): RawPath | undefined {
  if (name === undefined) return undefined;
  if (!name.startsWith('"')) return toRawPath(name);
  let raw = '';
  for (const [, octal, escaped, plain] of name
    .slice(1, -1)
    .matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) raw += String.fromCharCode(Number.parseInt(octal, 8));
    else if (escaped !== undefined)
      raw += String.fromCharCode(ESCAPES[escaped] ?? escaped.charCodeAt(0));
    else raw += toRawPath(plain ?? '');
  }
  return raw;
}
