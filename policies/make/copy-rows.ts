import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { VALUE_ID } from '../../src/core/policies/onnx/special-tokens.ts';
import { type Chance, createChance } from '../../src/core/tasks/random.ts';

/** A few lines of anything, and copies of some of them. */
const LINES = { fewest: 6, most: 14 };
const LINE_TOKENS = { fewest: 4, most: 16 };
const COPIES = { fewest: 3, most: 7 };

/**
 * Rows of random tokens in which lines come again behind a tag, as the old text of an edit does.
 * Nothing but copying predicts them, so a model learns within some hundred steps to copy, which
 * real text teaches it much later.
 */
export async function writeCopyRows(
  file: string,
  count: number,
  tokenizer: string,
  seed: number,
): Promise<void> {
  const json = JSON.parse(await readFile(join(tokenizer, 'tokenizer.json'), 'utf8')) as {
    readonly model: { readonly vocab: Readonly<Record<string, number>> };
  };
  const { vocab } = json.model;
  // Byte-level BPE spells a line break like this.
  const newline = vocab.Ċ;
  if (newline === undefined) throw new Error(`${tokenizer} has no token for a line break`);
  const tokens = Object.values(vocab).filter((id) => id > LAST_SPECIAL && id !== newline);
  const lines: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const chance = createChance('copy', seed, index);
    const ids = copyRow(tokens, newline, chance);
    const loss_mask = ids.map((_, at) => (at === 0 ? 0 : 1));
    lines.push(`${JSON.stringify({ id: `copy-${index}`, ids, loss_mask })}\n`);
  }
  await writeFile(file, lines.join(''));
}

const LAST_SPECIAL = 6;

function copyRow(tokens: readonly number[], newline: number, chance: Chance): readonly number[] {
  const pick = (): number => tokens[chance.int(0, tokens.length - 1)] ?? newline;
  // A small vocabulary for each row: tokens that come several times ask for more than one to match.
  const own = Array.from({ length: chance.int(20, 120) }, pick);
  const token = (): number => own[chance.int(0, own.length - 1)] ?? newline;
  const lines = Array.from({ length: chance.int(LINES.fewest, LINES.most) }, () =>
    Array.from({ length: chance.int(LINE_TOKENS.fewest, LINE_TOKENS.most) }, token),
  );
  const ids = lines.flatMap((line) => [...line, newline]);
  for (let copies = chance.int(COPIES.fewest, COPIES.most); copies > 0; copies -= 1) {
    ids.push(VALUE_ID, ...(lines[chance.int(0, lines.length - 1)] ?? []));
  }
  return ids;
}
