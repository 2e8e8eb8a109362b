import { parsePatch } from 'diff';
import type { PatchPart } from '../../../core/snapshot/patch-format.ts';

/**
 * One contiguous change of lines with the unchanged lines around it: what the editor shows as one
 * change, and the smallest thing that can be taken. Lines have no line ending. A file's text is its
 * lines joined; one that ends with a line break has an empty last line.
 */
export interface Change {
  /** 0-based line of the first of `before`, in the file that the patch was made from. */
  readonly at: number;
  readonly before: readonly string[];
  readonly removed: readonly string[];
  readonly added: readonly string[];
  readonly after: readonly string[];
  /** It changes whether the file ends with a line break, so nothing may come behind it. */
  readonly toEnd: boolean;
}

/** Why a file can be taken only as a whole, and only if it is exactly what the patch was made from. */
export type WholeReason =
  | 'added'
  | 'deleted'
  | 'renamed'
  | 'binary'
  | 'mode'
  | 'link'
  | 'line-endings'
  | 'encoding'
  | 'unreadable';

export type FileContent =
  | { readonly kind: 'text'; readonly changes: readonly Change[] }
  | { readonly kind: 'whole'; readonly reason: WholeReason };

const BOM = '\ufeff';

/** What a part of a patch does to its file. */
export function readContent(part: PatchPart): FileContent {
  const header = part.patch.split(/\n(?=@@ |GIT binary patch\n)/, 1)[0] ?? '';
  if (/^(?:new file mode|deleted file mode|new mode|index \S+) ?120000$/m.test(header)) {
    return whole('link');
  }
  // A file that becomes a link is two sections.
  if (/\ndiff --git /.test(part.patch)) return whole('link');
  if (part.binary) return whole('binary');
  if (part.status === 'added') return whole('added');
  if (part.status === 'deleted') return whole('deleted');
  if (/^(?:rename|copy) from /m.test(header)) return whole('renamed');
  if (/^new mode /m.test(header)) return whole('mode');
  return readHunks(part.patch);
}

interface Line {
  readonly sign: ' ' | '+' | '-';
  readonly text: string;
}

function readHunks(patch: string): FileContent {
  let hunks: readonly { readonly oldStart: number; readonly lines: readonly string[] }[];
  try {
    hunks = parsePatch(patch).flatMap((file) => file.hunks);
  } catch {
    return whole('unreadable');
  }
  if (hunks.length === 0) return whole('unreadable');
  const changes: Change[] = [];
  const endings = new Set<boolean>();
  for (const hunk of hunks) {
    const lines: Line[] = [];
    /** By side: its last line has no line break. */
    const cut = { old: false, new: false };
    for (const [index, text] of hunk.lines.entries()) {
      if (text.startsWith('\\')) continue;
      const sign = text.startsWith('+') || text.startsWith('-') ? (text[0] as '+' | '-') : ' ';
      const isCut = hunk.lines[index + 1]?.startsWith('\\') === true;
      if (isCut && sign !== '+') cut.old = true;
      if (isCut && sign !== '-') cut.new = true;
      const returns = text.endsWith('\r');
      if (isCut && returns) return whole('line-endings');
      if (!isCut) endings.add(returns);
      lines.push({ sign, text: returns ? text.slice(1, -1) : text.slice(1) });
    }
    if (lines.some(({ text }) => text.includes('\r'))) return whole('line-endings');
    // Where one side ends with a line break and the other does not, the empty last line is a change.
    if (cut.old !== cut.new) lines.push({ sign: cut.old ? '+' : '-', text: '' });
    changes.push(...changesOf(lines, hunk.oldStart - 1, cut.old !== cut.new));
  }
  if (endings.size > 1) return whole('line-endings');
  return withoutMark(changes);
}

function changesOf(lines: readonly Line[], start: number, toEnd: boolean): Change[] {
  const changes: Change[] = [];
  /** Runs of unchanged and of changed lines by turns, beginning with unchanged ones. */
  const runs: Line[][] = [[]];
  for (const line of lines) {
    const changed = runs.length % 2 === 0;
    if (changed !== (line.sign !== ' ')) runs.push([]);
    runs.at(-1)?.push(line);
  }
  let at = start;
  for (let index = 1; index < runs.length; index += 2) {
    const before = textsOf(runs[index - 1] ?? [], ' ');
    const run = runs[index] ?? [];
    const removed = textsOf(run, '-');
    changes.push({
      at,
      before,
      removed,
      added: textsOf(run, '+'),
      after: textsOf(runs[index + 1] ?? [], ' '),
      toEnd: toEnd && index + 2 >= runs.length,
    });
    at += before.length + removed.length;
  }
  return changes;
}

/** The editor keeps a byte order mark apart from the text. */
function withoutMark(changes: readonly Change[]): FileContent {
  const [first, ...rest] = changes;
  if (first === undefined || first.at !== 0) return { kind: 'text', changes };
  const strip = ([line, ...others]: readonly string[]): readonly string[] =>
    line?.startsWith(BOM)
      ? [line.slice(1), ...others]
      : line === undefined
        ? []
        : [line, ...others];
  const old = [...first.before, ...first.removed, ...first.after][0] ?? '';
  const now = [...first.before, ...first.added, ...first.after][0] ?? '';
  if (old.startsWith(BOM) !== now.startsWith(BOM)) return whole('encoding');
  if (!old.startsWith(BOM)) return { kind: 'text', changes };
  const stripped =
    first.before.length > 0
      ? { ...first, before: strip(first.before) }
      : { ...first, removed: strip(first.removed), added: strip(first.added) };
  return { kind: 'text', changes: [stripped, ...rest] };
}

function textsOf(lines: readonly Line[], sign: Line['sign']): readonly string[] {
  return lines.filter((line) => line.sign === sign).map(({ text }) => text);
}

function whole(reason: WholeReason): FileContent {
  return { kind: 'whole', reason };
}
