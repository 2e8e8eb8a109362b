import { posix } from 'node:path';
import type { PatchPart } from '../snapshot/patch-format.ts';

/** `java`: the languages of the JVM. */
export type Language = 'javascript' | 'python' | 'go' | 'rust' | 'java';

const LANGUAGES: Readonly<Record<string, Language>> = {
  js: 'javascript',
  cjs: 'javascript',
  mjs: 'javascript',
  jsx: 'javascript',
  ts: 'javascript',
  cts: 'javascript',
  mts: 'javascript',
  tsx: 'javascript',
  py: 'python',
  pyi: 'python',
  pyw: 'python',
  go: 'go',
  rs: 'rust',
  java: 'java',
  kt: 'java',
  kts: 'java',
  groovy: 'java',
  scala: 'java',
};

/** Compilers take their own extension only. */
const COMPILED: ReadonlySet<Language | 'all'> = new Set(['go', 'rust', 'java'] as const);

/** Does a rule for `only` concern a file of this language? Files of unknown ones may be scripts. */
export function concerns(only: Language | 'all', language: Language | undefined): boolean {
  if (only === 'all') return true;
  return language === undefined ? !COMPILED.has(only) : only === language;
}

/** Text that nothing runs by itself; loading it as code is a rule of its own. */
const PROSE =
  /\.(?:md|mdx|rst|txt|json|jsonc|json5|ya?ml|toml|ini|cfg|lock|csv|tsv|html?|css|s[ac]ss|less|svg|xml|sql|graphql|proto|po|pot)$|(?:^|\/)(?:LICEN[CS]E|NOTICE|CHANGELOG|AUTHORS|\.gitignore|\.gitattributes|\.editorconfig)[^/]*$/i;

/** undefined: by its name it could be code of any language (no extension, an unknown one). */
export function languageOf(file: string): Language | 'prose' | undefined {
  const extension = posix.extname(file).slice(1).toLowerCase();
  return LANGUAGES[extension] ?? (PROSE.test(file) ? 'prose' : undefined);
}

/** Lines that a patch adds one after the other, without comments. */
export interface AddedBlock {
  /** Number of the first line in the new file. */
  readonly line: number;
  readonly text: string;
}

/** @returns what the part adds; nothing for binary parts */
export function addedBlocks(part: PatchPart): readonly AddedBlock[] {
  const blocks: AddedBlock[] = [];
  let open: { line: number; lines: string[] } | undefined;
  let comment = newCommentState();
  let line = 0;
  let inHunk = false;
  const language = languageOf(part.path);
  const close = (): void => {
    if (open) blocks.push({ line: open.line, text: readable(open.lines.join('\n')) });
    open = undefined;
  };
  for (const text of part.patch.split('\n')) {
    if (text.startsWith('diff --git ')) {
      inHunk = false;
      close();
    } else if (text.startsWith('@@ ')) {
      close();
      inHunk = true;
      comment = newCommentState();
      line = Number(/\+(\d+)/.exec(text)?.[1] ?? 1);
    } else if (inHunk && (text.startsWith('+') || text.startsWith(' '))) {
      const code = comment(text.slice(1), language);
      if (text.startsWith('+')) {
        open ??= { line, lines: [] };
        open.lines.push(code);
      } else close();
      line += 1;
    }
  }
  close();
  return blocks;
}

/**
 * Takes whole-line comments away; what stands behind code on a line stays, because telling a
 * comment from a text with `//` or `#` in it needs more than a patch shows.
 */
function newCommentState(): (text: string, language: Language | 'prose' | undefined) => string {
  // At the start of a hunk nobody knows: lines that begin with `*` are then taken for a comment's.
  let inBlock: boolean | undefined;
  return (text, language) => {
    if (language === 'python') {
      // An unusual encoding makes text something else than it seems: that comment counts.
      return /^\s*#/.test(text) && !/coding[:=]/.test(text) ? '' : text;
    }
    if (language === undefined || language === 'prose') return text;
    // Directives of Go.
    if (language === 'go' && /^\s*\/\/(?:go:|line\b|export\b)/.test(text)) return text;
    // In Go and Rust a line with a pointer begins so too.
    const isMaybe = language === 'javascript' || language === 'java';
    const continues = inBlock ?? (isMaybe && /^\s*\*(?!\*)/.test(text));
    if (continues) {
      const end = text.indexOf('*/');
      inBlock = end < 0 ? inBlock : false;
      return end < 0 ? '' : text.slice(end + 2);
    }
    inBlock = false;
    if (/^\s*\/\//.test(text) && !text.includes('${')) return '';
    if (!/^\s*\/\*/.test(text)) return text;
    const end = text.indexOf('*/', text.indexOf('/*') + 2);
    inBlock = end < 0;
    return end < 0 ? '' : text.slice(end + 2);
  };
}

/** Identifiers and strings as the language reads them: escapes decoded, look-alikes made plain. */
function readable(text: string): string {
  const decoded = text.replace(
    /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2}))/gi,
    (whole, long: string | undefined, four: string | undefined, two: string | undefined) => {
      const code = Number.parseInt(long ?? four ?? two ?? '', 16);
      // Printable ASCII only: nothing else spells a name, and line breaks would move lines.
      return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : whole;
    },
  );
  return decoded.normalize('NFKC');
}
