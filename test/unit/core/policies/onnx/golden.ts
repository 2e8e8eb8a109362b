import { readFileSync } from 'node:fs';
import type { FormatMessage } from '../../../../../src/core/policies/onnx/chat-format.ts';
import {
  createPolicyTokenizer,
  type PolicyTokenizer,
} from '../../../../../src/core/policies/onnx/tokenizer.ts';

/** The files that both sides of the format test against, made by the learner. */
const folder = new URL('../../../../../server/learner/tests/fixtures/golden/', import.meta.url);

export interface GoldenFormat {
  readonly special_tokens: readonly string[];
  readonly conversations: readonly {
    readonly name: string;
    readonly messages: readonly FormatMessage[];
    readonly generation_prompt: boolean;
    readonly text: string;
    readonly ids: readonly number[];
  }[];
  readonly replies: readonly {
    readonly name: string;
    readonly ids: readonly number[];
    readonly reply?: {
      readonly content: string;
      readonly calls: readonly {
        readonly name: string;
        readonly arguments: readonly (readonly [string, string])[];
      }[];
      readonly finish: string;
    };
    readonly malformed?: { readonly reason: string };
  }[];
  readonly reply_sets: readonly {
    readonly name: string;
    readonly replies: readonly (readonly number[])[];
    readonly weights: readonly number[];
    /** Which of the replies was drawn. */
    readonly drawn: number;
    readonly messages: readonly {
      readonly choices?: readonly {
        readonly at: number;
        readonly ids: readonly number[];
        readonly bias: readonly number[];
      }[];
    }[];
  }[];
}

export function goldenFormat(): GoldenFormat {
  return JSON.parse(read('format.json'));
}

export function goldenTokenizer(): PolicyTokenizer {
  return createPolicyTokenizer(
    JSON.parse(read('tokenizer/tokenizer.json')),
    JSON.parse(read('tokenizer/tokenizer_config.json')),
  );
}

export function goldenChatTemplate(): string {
  return read('tokenizer/chat_template.jinja');
}

function read(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8');
}
