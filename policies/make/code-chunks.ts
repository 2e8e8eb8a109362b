import { createHash } from 'node:crypto';
import type { PackageFile } from './package-code.ts';

/** Limits of a chunk; what a listing in an attempt looks like. */
const LINES = { least: 6, most: 18 } as const;
const CHARACTERS = { least: 150, most: 650 } as const;
const LONGEST_LINE = 100;

/**
 * Pieces of files of JavaScript (package-code.ts), in an order that is random and always the same. For
 * training on code that no template of ours has written.
 */
export async function codeChunks(
  files: AsyncIterable<PackageFile>,
  count: number,
): Promise<readonly string[]> {
  const chunks = new Map<string, string>();
  for await (const { text } of files) {
    for (const chunk of chunksOf(text)) {
      chunks.set(createHash('sha256').update(chunk).digest('hex'), chunk);
    }
  }
  return [...chunks]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, count)
    .map(([, chunk]) => chunk);
}

/** Runs of whole paragraphs (cut at empty lines) of about the size of a small module. */
export function chunksOf(text: string): readonly string[] {
  const chunks: string[] = [];
  let lines: string[] = [];
  const finish = (): void => {
    const chunk = lines.join('\n');
    if (lines.length >= LINES.least && chunk.length >= CHARACTERS.least) chunks.push(chunk);
    lines = [];
  };
  for (const paragraph of text.replaceAll('\r\n', '\n').split(/\n(?:[ \t]*\n)+/)) {
    const next = paragraph.split('\n').map((line) => line.trimEnd());
    if (!isPlain(next)) {
      finish();
      continue;
    }
    const both = lines.length === 0 ? next : [...lines, '', ...next];
    if (both.length > LINES.most || both.join('\n').length > CHARACTERS.most) {
      finish();
      if (next.length <= LINES.most && next.join('\n').length <= CHARACTERS.most) lines = next;
    } else lines = both;
  }
  finish();
  return chunks;
}

/** Neither minified nor data nor mostly comment, and without characters that few files have. */
function isPlain(lines: readonly string[]): boolean {
  const comments = lines.filter((line) => /^\s*(?:\/\/|\/?\*)/.test(line)).length;
  return (
    comments * 2 < lines.length + 1 &&
    lines.every((line) => line.length <= LONGEST_LINE && /^[\t\x20-\x7e]*$/.test(line))
  );
}
