import { createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import { type PatchPart, parsePatch } from '../../../../src/core/snapshot/patch-format.ts';
import { type Change, readContent } from '../../../../src/editor/review/patch/changes.ts';

/** What git writes for a change of one text file. */
export function patchOf(before: string, after: string, name = 'a.txt'): string {
  const body = createTwoFilesPatch(`a/${name}`, `b/${name}`, before, after, undefined, undefined, {
    context: 3,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  });
  return `diff --git a/${name} b/${name}\nindex ${'1'.repeat(40)}..${'2'.repeat(40)} 100644\n${body}`;
}

export function partOf(patch: string): PatchPart {
  const [part] = parsePatch(patch);
  if (!part) throw new Error('not a patch');
  return part;
}

export function changesOf(before: string, after: string): readonly Change[] {
  const content = readContent(partOf(patchOf(before, after)));
  if (content.kind !== 'text') throw new Error(`whole: ${content.reason}`);
  return content.changes;
}

/** Texts of few different lines, so that many places look alike; with and without a last break. */
export function texts(ending: '\n' | '\r\n' = '\n', words = ['a', 'b', 'c', '', '  }']) {
  return fc
    .tuple(fc.array(fc.constantFrom(...words), { maxLength: 40 }), fc.boolean())
    .map(([lines, broken]) => lines.join(ending) + (broken && lines.length > 0 ? ending : ''));
}
