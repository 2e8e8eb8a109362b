import type { OperatorId } from './operator-table.ts';

/** `jsx` is JavaScript that may hold JSX, `tsx` TypeScript that may. */
export type Language = 'javascript' | 'jsx' | 'typescript' | 'tsx' | 'python' | 'rust' | 'go';

/** Part of a source, in UTF-16 code units; `to` is exclusive. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** One small change of a source. Everything outside `from`…`to` stays byte for byte. */
export interface Edit extends TextRange {
  readonly operator: OperatorId;
  /** Equals `source.slice(from, to)`. */
  readonly oldText: string;
  readonly newText: string;
  /** 1-based line of `from`. */
  readonly line: number;
  /** For people, for example `< becomes <=`. */
  readonly description: string;
  /** How likely such an edit is the fix of a bug, 0 to 1; only the order means something. */
  readonly prior: number;
}

export function applyEdit(source: string, edit: Pick<Edit, 'from' | 'to' | 'newText'>): string {
  return source.slice(0, edit.from) + edit.newText + source.slice(edit.to);
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  js: 'jsx',
  cjs: 'javascript',
  mjs: 'javascript',
  jsx: 'jsx',
  ts: 'typescript',
  mts: 'typescript',
  cts: 'typescript',
  tsx: 'tsx',
  py: 'python',
  pyi: 'python',
  rs: 'rust',
  go: 'go',
};

/** The language by the file's name; undefined: there are no operators for it. */
export function languageOf(path: string): Language | undefined {
  const extension = /\.([^./]+)$/.exec(path)?.[1];
  return extension === undefined ? undefined : LANGUAGES[extension.toLowerCase()];
}
