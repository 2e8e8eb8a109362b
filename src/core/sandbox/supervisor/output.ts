import { Buffer } from 'node:buffer';
import type { ExecOutput } from '../sandbox.ts';

/** Keeps the first and last bytes of a stream, so that memory is bounded by `maxBytes`. */
export class HeadAndTail {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #omitted = 0;

  constructor(maxBytes: number) {
    this.#headLimit = Math.floor(maxBytes / 2);
    this.#tailLimit = maxBytes - this.#headLimit;
  }

  push(chunk: Uint8Array): void {
    const room = this.#headLimit - this.#headBytes;
    if (room > 0) {
      // A copy: a slice would keep the whole buffer of the stream alive.
      const first = Buffer.from(chunk.subarray(0, room));
      this.#head.push(first);
      this.#headBytes += first.length;
      if (this.#head.length > 64)
        this.#head.splice(0, this.#head.length, Buffer.concat(this.#head));
    }
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length > 0) this.#pushTail(rest);
  }

  #pushTail(rest: Uint8Array): void {
    const kept = rest.subarray(Math.max(0, rest.length - this.#tailLimit));
    this.#omitted += rest.length - kept.length;
    this.#tail.push(Buffer.from(kept));
    this.#tailBytes += kept.length;
    // Cut only now and then: cutting at every small chunk would copy the tail each time.
    if (this.#tail.length > 64 || this.#tailBytes > 2 * this.#tailLimit + 65_536) this.#cutTail();
  }

  #cutTail(): void {
    const all = Buffer.concat(this.#tail);
    const cut = Math.max(0, all.length - this.#tailLimit);
    this.#omitted += cut;
    const kept = cut > 0 ? Buffer.from(all.subarray(cut)) : all;
    this.#tail = [kept];
    this.#tailBytes = kept.length;
  }

  result(): ExecOutput {
    this.#cutTail();
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (this.#omitted === 0) {
      return { head: Buffer.concat([head, tail]), tail: new Uint8Array(0), omittedBytes: 0 };
    }
    return { head, tail, omittedBytes: this.#omitted };
  }
}

/** Length of the longest end of `data` that could be the beginning of `word`. */
function heldBack(data: Uint8Array, word: Uint8Array): number {
  for (let length = Math.min(word.length - 1, data.length); length > 0; length--) {
    const start = data.length - length;
    let same = true;
    for (let index = 0; same && index < length; index++) same = data[start + index] === word[index];
    if (same) return length;
  }
  return 0;
}

/** Finds a word in a stream, also across chunk borders, and passes on at once what cannot be part of it. */
export class WordFinder {
  readonly #word: Buffer;
  #held: Buffer = Buffer.alloc(0);

  constructor(word: string) {
    this.#word = Buffer.from(word);
  }

  /** `before`: bytes in front of the word that are certain; `after`: set once the word was found. */
  push(chunk: Uint8Array): { readonly before: Buffer; readonly after: Buffer | undefined } {
    const data = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : Buffer.from(chunk);
    const found = data.indexOf(this.#word);
    if (found >= 0) {
      this.#held = Buffer.alloc(0);
      return { before: data.subarray(0, found), after: data.subarray(found + this.#word.length) };
    }
    const held = heldBack(data, this.#word);
    this.#held = data.subarray(data.length - held);
    return { before: data.subarray(0, data.length - held), after: undefined };
  }

  /** What was held back and turned out not to be the word. */
  rest(): Buffer {
    return this.#held;
  }
}

/** Replaces byte strings in a stream, also across chunk borders. Earlier pairs win. */
export class StreamReplacer {
  readonly #pairs: readonly { readonly from: Buffer; readonly to: Buffer }[];
  #held: Buffer = Buffer.alloc(0);

  constructor(pairs: readonly (readonly [from: string, to: string])[]) {
    this.#pairs = pairs.map(([from, to]) => ({ from: Buffer.from(from), to: Buffer.from(to) }));
  }

  push(chunk: Uint8Array): Uint8Array {
    const data = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : Buffer.from(chunk);
    const done: Buffer[] = [];
    let at = 0;
    for (;;) {
      let next: { readonly index: number; readonly from: Buffer; readonly to: Buffer } | undefined;
      for (const pair of this.#pairs) {
        const index = data.indexOf(pair.from, at);
        if (index >= 0 && (next === undefined || index < next.index)) next = { index, ...pair };
      }
      if (next === undefined) break;
      done.push(data.subarray(at, next.index), next.to);
      at = next.index + next.from.length;
    }
    const rest = data.subarray(at);
    const held = Math.max(0, ...this.#pairs.map(({ from }) => heldBack(rest, from)));
    this.#held = rest.subarray(rest.length - held);
    done.push(rest.subarray(0, rest.length - held));
    return Buffer.concat(done);
  }

  end(): Uint8Array {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }
}
