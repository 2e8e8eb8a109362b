import { Tokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import { SPECIAL_TOKENS, specialSpelling, spellingOf } from './special-tokens.ts';

/** The policy's byte-level BPE: text to ids, and ids to the bytes that they stand for. */
export interface PolicyTokenizer {
  readonly vocabulary: number;
  /** Ids of ordinary text: the spelling of a special token stays text. */
  encodeText(text: string): number[];
  /** Bytes of one token; of a special token, its spelling. Empty for an unknown id. */
  bytesOf(id: number): Uint8Array;
  /** Bytes that are not UTF-8 become U+FFFD. */
  decode(ids: readonly number[]): string;
}

const tokenizerSchema = z.looseObject({
  model: z.looseObject({ type: z.literal('BPE'), vocab: z.record(z.string(), z.int().min(0)) }),
  decoder: z.looseObject({ type: z.literal('ByteLevel') }),
});

/**
 * @param json content of tokenizer.json
 * @param config content of tokenizer_config.json
 * @throws Error with the reason where this is not a tokenizer of the policy's format
 */
export function createPolicyTokenizer(json: unknown, config: object): PolicyTokenizer {
  const parsed = tokenizerSchema.safeParse(json);
  if (!parsed.success) throw new Error('it is not a byte-level BPE');
  const { vocab } = parsed.data.model;
  const tokenizer = new Tokenizer(parsed.data, config);
  SPECIAL_TOKENS.forEach((token, id) => {
    const actual = tokenizer.token_to_id(token);
    if (actual !== id) throw new Error(`${token} must have id ${id}, not ${actual}`);
  });

  const bytes = tokenBytes(vocab);
  const encodePart = (text: string): number[] =>
    text === '' ? [] : tokenizer.encode(text, { add_special_tokens: false }).ids;
  return {
    vocabulary: bytes.length,
    encodeText(text) {
      const ids: number[] = [];
      let start = 0;
      // Cut behind its `<`, a spelling is no special token for the library any more.
      for (const match of text.matchAll(specialSpelling())) {
        ids.push(...encodePart(text.slice(start, match.index + 1)));
        start = match.index + 1;
      }
      ids.push(...encodePart(text.slice(start)));
      return ids;
    },
    bytesOf: (id) => bytes[id] ?? new Uint8Array(),
    decode(ids) {
      const decoder = createTextStream(this);
      return ids.map((id) => decoder.add(id)).join('') + decoder.end();
    },
  };
}

/** Remembers the ids of texts: many replies of one set have most of their texts in common. */
export function rememberingTokenizer(tokenizer: PolicyTokenizer, most = 20_000): PolicyTokenizer {
  const known = new Map<string, readonly number[]>();
  return {
    ...tokenizer,
    encodeText(text) {
      const before = known.get(text);
      if (before) return [...before];
      const ids = tokenizer.encodeText(text);
      if (known.size >= most) known.clear();
      known.set(text, ids);
      return [...ids];
    },
  };
}

/** Text of a growing list of tokens; what is not yet a whole character waits for the next token. */
export interface TextStream {
  add(id: number): string;
  /** What waited, as U+FFFD. */
  end(): string;
}

export function createTextStream(tokenizer: Pick<PolicyTokenizer, 'bytesOf'>): TextStream {
  // A byte order mark inside a text is a character like others.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return {
    add: (id) => decoder.decode(tokenizer.bytesOf(id), { stream: true }),
    end: () => decoder.decode(),
  };
}

function tokenBytes(vocab: Readonly<Record<string, number>>): Uint8Array[] {
  const toByte = byteLevelAlphabet();
  const table: Uint8Array[] = [];
  for (const [token, id] of Object.entries(vocab)) {
    const special = id < SPECIAL_TOKENS.length;
    table[id] = special
      ? new TextEncoder().encode(spellingOf(id))
      : Uint8Array.from(token, (letter) => toByte.get(letter) ?? 0);
  }
  return table;
}

/** GPT-2's letters for bytes: printable ones stand for themselves, the others follow from U+0100. */
function byteLevelAlphabet(): ReadonlyMap<string, number> {
  const printable = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad);
  const letters = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte += 1) {
    letters.set(String.fromCodePoint(printable(byte) ? byte : next), byte);
    if (!printable(byte)) next += 1;
  }
  return letters;
}
