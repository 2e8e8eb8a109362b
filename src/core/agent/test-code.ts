import type { TestResult } from '../frameworks/framework.ts';
import { importsOf } from '../frameworks/imports.ts';
import type { TreeReader } from '../frameworks/inside-tree.ts';

/** Code of a failing test for the first message, so that no turn is needed to look at it. */
export interface TestCode {
  readonly file: string;
  /** 1-based. */
  readonly firstLine: number;
  readonly lines: readonly string[];
  /** Files of the repository that the test file imports, in order. */
  readonly imports: readonly string[];
}

const MAX_LINES = 12;
const MAX_LINE = 200;
const MAX_IMPORTS = 6;

/** undefined where the test's file or line is not known. */
export async function findTestCode(
  reader: TreeReader,
  test: Pick<TestResult, 'file' | 'line' | 'failure'>,
): Promise<TestCode | undefined> {
  const text = await reader.readText(test.file);
  const start = test.line ?? test.failure?.place?.line;
  if (text === undefined || start === undefined) return undefined;
  const lines = statementAt(text.split(/\r?\n/), start, test.file.endsWith('.py'));
  if (lines.length === 0) return undefined;
  const imports = await importedFiles(reader, test.file, text);
  return { file: test.file, firstLine: start, lines: lines.map(cutLine), imports };
}

/** A line with what is indented below it and, outside of Python, the line that closes it. */
function statementAt(all: readonly string[], start: number, python: boolean): readonly string[] {
  const head = all[start - 1];
  if (head === undefined || head.trim() === '') return [];
  const depth = indentOf(head);
  const taken = [head];
  for (const line of all.slice(start)) {
    if (taken.length >= MAX_LINES) break;
    const inner = line.trim() === '' || indentOf(line) > depth;
    if (!inner && (python || !/^\s*[)}\]]/.test(line))) break;
    taken.push(line);
    if (!inner) break;
  }
  while (taken.at(-1)?.trim() === '') taken.pop();
  return taken;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function cutLine(line: string): string {
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}

/** Only those that can be found without listing the repository. */
async function importedFiles(
  reader: TreeReader,
  file: string,
  text: string,
): Promise<readonly string[]> {
  const asked = new Set<string>();
  // A first pass notes which paths would be looked for; the second knows which of them exist.
  importsOf(file, text, noting(asked));
  const found = new Set<string>();
  for (const path of asked) {
    if ((await reader.readText(path)) !== undefined) found.add(path);
  }
  return importsOf(file, text, found).slice(0, MAX_IMPORTS);
}

function noting(asked: Set<string>): ReadonlySet<string> {
  const empty = new Set<string>();
  return Object.assign(empty, {
    has(path: string): boolean {
      asked.add(path);
      return false;
    },
  });
}
