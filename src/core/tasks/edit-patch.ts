import { createHash } from 'node:crypto';

const CONTEXT = 3;

/**
 * A git patch with one hunk from `before` to `after`, which differ in one place. The form of
 * `snapshot/patch.ts`: full hashes, `a/` and `b/`.
 */
export function editPatch(path: string, before: string, after: string, mode = '100644'): string {
  if (before === after) return '';
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let same = 0;
  while (
    same < Math.min(old.length, now.length) - start &&
    old[old.length - 1 - same] === now[now.length - 1 - same]
  ) {
    same++;
  }
  const top = Math.max(0, start - CONTEXT);
  const below = Math.min(same, CONTEXT);
  const lines = [
    ...old.slice(top, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - same).map((line) => `-${line}`),
    ...now.slice(start, now.length - same).map((line) => `+${line}`),
    ...old.slice(old.length - same, old.length - same + below).map((line) => ` ${line}`),
  ];
  const body = lines
    .map((line) => (line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`))
    .join('');
  const span = (count: number): string => {
    const lines = count - top - same + below;
    const first = lines === 0 ? top : top + 1;
    return lines === 1 ? String(first) : `${first},${lines}`;
  };
  return [
    `diff --git a/${path} b/${path}`,
    `index ${blobHash(before)}..${blobHash(after)} ${mode}`,
    `--- a/${path}`,
    `+++ b/${path}`,
    `@@ -${span(old.length)} +${span(now.length)} @@`,
    body,
  ].join('\n');
}

/** Lines with their line breaks. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function blobHash(text: string): string {
  const content = Buffer.from(text);
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}
