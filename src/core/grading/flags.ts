import { type PatchPart, parsePatch } from '../snapshot/patch-format.ts';
import { addedBlocks, concerns, languageOf } from './added-code.ts';
import { FLAG_RULES } from './flag-rules.ts';
import type { GradeFlag } from './types.ts';

/** Configuration that says which file a name in code stands for. */
const REMAPS =
  /(?:^|\/)(?:tsconfig[^/]*\.json|jsconfig\.json|\.swcrc|\.babelrc[^/]*|babel\.config\.\w+)$/;

/** Programs that no patch shows as text. */
const COMPILED = /\.(?:pyc|pyo|pyd|so|node|wasm|dll|dylib|jar|zip|whl|egg|pickle|pkl)$/i;

/**
 * A patch with a flag may pass and may be shown, but is never trained on.
 *
 * @param patch git's unified format
 * @param ignored files whose changes are reverted anyway (tests and what steers them)
 */
export function flagPatch(patch: string, ignored: ReadonlySet<string>): readonly GradeFlag[] {
  return parsePatch(patch)
    .filter((part) => !ignored.has(part.path))
    .flatMap((part) => [...hidden(part), ...suspicious(part)]);
}

function suspicious(part: PatchPart): readonly GradeFlag[] {
  const language = languageOf(part.path);
  if (language === 'prose') return [];
  const flags = new Map<string, GradeFlag>();
  for (const block of addedBlocks(part)) {
    for (const { rule, explanation, language: only, pattern } of FLAG_RULES) {
      if (!concerns(only, language)) continue;
      if (flags.has(rule)) continue;
      const found = pattern.exec(block.text);
      if (!found) continue;
      // Leading blanks of a match may lie in earlier lines.
      const at = found.index + (/^\s*/.exec(found[0])?.[0].length ?? 0);
      const line = block.line + (block.text.slice(0, at).match(/\n/g)?.length ?? 0);
      flags.set(rule, { rule, file: part.path, line, explanation });
    }
  }
  return [...flags.values()];
}

/** Changes whose meaning cannot be read out of added lines. */
function hidden(part: PatchPart): readonly GradeFlag[] {
  if (part.status === 'deleted') return [];
  const flag = (rule: string, explanation: string): GradeFlag => ({
    rule,
    file: part.path,
    explanation,
  });
  const language = languageOf(part.path);
  const isCode = language !== undefined && language !== 'prose';
  const flags: GradeFlag[] = [];
  if (part.binary && (isCode || COMPILED.test(part.path) || !part.path.includes('.'))) {
    flags.push(flag('unreadable', 'is code whose changes cannot be read as text'));
  }
  if (/^(?:new file mode|new mode) 120000$/m.test(part.patch) && isCode) {
    flags.push(flag('unreadable', 'is a link in the place of a file with code'));
  }
  if (REMAPS.test(part.path)) {
    flags.push(flag('configuration', 'can change which files names in code stand for'));
  }
  return flags;
}
