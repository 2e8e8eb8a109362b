import type { Chance } from '../random.ts';

/** A change of one token, as a bug. Positions as in `Edit`. */
export interface NoiseEdit {
  readonly operator: 'token-noise';
  readonly from: number;
  readonly to: number;
  readonly oldText: string;
  readonly newText: string;
  readonly line: number;
  readonly description: string;
}

const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|[A-Za-z_$][\w$]*|\d+|=>|[=!<>]=+|&&|\|\||\+\+|--|[^\s\w]/g;

/**
 * Bugs that follow no operator: one token replaced by another one of the file, left out, or written
 * twice. For training only: they teach to see what looks out of place, beyond the kinds of bugs that
 * the operators make.
 */
export function noiseEdits(source: string, chance: Chance, count: number): readonly NoiseEdit[] {
  const tokens = [...source.matchAll(TOKEN)]
    .map((match) => ({ text: match[0], at: match.index }))
    .filter(({ text }) => !text.startsWith('//') && !text.startsWith('/*'));
  const edits: NoiseEdit[] = [];
  for (const { text, at } of chance.shuffle(tokens).slice(0, count)) {
    const newText = otherText(text, tokens, chance);
    if (newText === text) continue;
    edits.push({
      operator: 'token-noise',
      from: at,
      to: at + text.length,
      oldText: text,
      newText,
      line: source.slice(0, at).split('\n').length,
      description: `${text} becomes ${newText || 'nothing'}`,
    });
  }
  return edits;
}

function otherText(
  text: string,
  tokens: readonly { readonly text: string }[],
  chance: Chance,
): string {
  if (chance.chance(0.2)) return '';
  if (/^\d+$/.test(text) && chance.chance(0.5)) return String(chance.int(0, 60));
  const kind = kindOf(text);
  const same = [...new Set(tokens.map((token) => token.text))].filter(
    (other) => other !== text && kindOf(other) === kind,
  );
  const [first, ...rest] = same;
  return first === undefined ? text + text : chance.pick([first, ...rest]);
}

function kindOf(text: string): string {
  if (/^\d/.test(text)) return 'number';
  if (/^[\w$]/.test(text)) return 'name';
  return 'sign';
}
