import { posix } from 'node:path';
import {
  type FileInfo,
  SandboxFailure,
  SandboxFileError,
  type SandboxFiles,
  WORKSPACE,
} from '../sandbox/sandbox.ts';
import { withCommas } from './text.ts';

/** A path of a call, checked. `text` is the observation for the model. */
export type CheckedPath =
  | { readonly kind: 'ok'; readonly path: string; readonly info: FileInfo }
  | { readonly kind: 'refused'; readonly text: string };

/** Is the path written so that it can be looked up? Pure: symbolic links are for `checkPath`. */
export function normalizePath(
  given: string,
):
  | { readonly kind: 'ok'; readonly path: string }
  | { readonly kind: 'refused'; readonly text: string } {
  if (given === '') return refused(`The path is empty. Give an absolute path like ${WORKSPACE}/…`);
  if (given.includes('\0')) return refused('The path has a NUL character in it.');
  if (!given.startsWith('/')) {
    const guess = posix.normalize(`${WORKSPACE}/${given}`);
    const help = isInside(guess) ? ` Maybe you meant ${showPath(guess)}?` : '';
    return refused(`The path ${showPath(given)} is not absolute.${help}`);
  }
  const path = posix
    .normalize(given)
    .replace(/(?<=.)\/+$/, '')
    .replace(/^\/\//, '/');
  if (isInside(path)) return { kind: 'ok', path };
  return refused(
    `${showPath(path)} is outside ${WORKSPACE}. Only paths inside it can be used here.`,
  );
}

/** Normalizes a path, looks at it, and refuses what leads out of the workspace. */
export async function checkPath(files: SandboxFiles, given: string): Promise<CheckedPath> {
  const normal = normalizePath(given);
  if (normal.kind === 'refused') return normal;
  const { path } = normal;
  const info = await files.inspect(path);
  if (!isInside(info.realPath)) {
    return refused(leadsOutsideText(path));
  }
  return { kind: 'ok', path, info };
}

export function isInside(path: string): boolean {
  return path === WORKSPACE || path.startsWith(`${WORKSPACE}/`);
}

/** `/workspace/src/a.js` → `src/a.js`; the workspace itself is `.`. */
export function relativeToWorkspace(path: string): string {
  if (path === WORKSPACE) return '.';
  return path.startsWith(`${WORKSPACE}/`) ? path.slice(WORKSPACE.length + 1) : path;
}

/** Names may hold line breaks or control characters: those are shown as a quoted string. */
export function showPath(path: string): string {
  const short = path.length > 1_000 ? `${path.slice(0, 1_000)}…` : path;
  return /[\p{Cc}\p{Cs}\u2028\u2029]/u.test(short) ? JSON.stringify(short) : short;
}

/** Observation for an error of file access. A full disk is the machine's fault: it passes through. */
export function fileErrorText(error: unknown, path: string): string {
  if (!(error instanceof SandboxFileError)) throw error;
  switch (error.code) {
    case 'missing':
      return `${showPath(path)} does not exist.`;
    case 'not-a-file':
      return `${showPath(path)} is not a regular file.`;
    case 'permission':
      return `Permission denied: ${showPath(path)} (see ls -l; it or its folder may be read-only).`;
    case 'too-large':
      return `${showPath(path)} is too large for this tool.`;
    case 'no-space':
      throw new SandboxFailure(
        `No space is left on the disk (while writing ${path}).`,
        'Free some disk space and start again.',
      );
    case 'other':
      return error.message;
  }
}

/** Names close to `name` among `candidates`, the closest first, at most three. */
export function nearNames(name: string, candidates: readonly string[]): readonly string[] {
  const wanted = name.toLowerCase();
  const limit = Math.min(3, Math.max(1, Math.floor(name.length / 3)));
  return candidates
    .map((candidate) => ({ candidate, far: distance(wanted, candidate.toLowerCase(), limit) }))
    .filter(({ candidate, far }) => far <= limit || sameStem(wanted, candidate.toLowerCase()))
    .sort((a, b) => a.far - b.far || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

export function tooLargeText(path: string, size: number, limit: number): string {
  return (
    `${showPath(path)} is too large for this tool: ${withCommas(size)} bytes, the limit is ` +
    `${withCommas(limit)}. Use bash (head, sed -n, grep).`
  );
}

export function leadsOutsideText(path: string): string {
  return `${showPath(path)} leads outside ${WORKSPACE} through a symbolic link.`;
}

function refused(text: string): { readonly kind: 'refused'; readonly text: string } {
  return { kind: 'refused', text };
}

function sameStem(a: string, b: string): boolean {
  const stem = (name: string): string => name.replace(/\.[^.]*$/, '');
  return stem(a) !== '' && stem(a) === stem(b);
}

/** Levenshtein distance; anything above `limit` is only known to be above it. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? limit + 1;
}
