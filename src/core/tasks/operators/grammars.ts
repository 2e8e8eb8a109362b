import type { Language } from './edit.ts';
import { goGrammar } from './go.ts';
import type { Grammar } from './grammar.ts';
import { javascriptGrammar } from './javascript.ts';
import { pythonGrammar } from './python.ts';
import { rustGrammar } from './rust.ts';

const DIALECTS: Readonly<Record<Language, () => Grammar>> = {
  javascript: () => javascriptGrammar(''),
  jsx: () => javascriptGrammar('jsx'),
  typescript: () => javascriptGrammar('ts'),
  tsx: () => javascriptGrammar('ts jsx'),
  python: pythonGrammar,
  rust: rustGrammar,
  go: goGrammar,
};

const made = new Map<Language, Grammar>();

/** Parsers are configured once per process. */
export function grammarOf(language: Language): Grammar {
  const known = made.get(language);
  if (known !== undefined) return known;
  const grammar = DIALECTS[language]();
  made.set(language, grammar);
  return grammar;
}
