import type { Message } from '../../../agent/messages.ts';
import { firstUserMessage, lastObservations } from '../../edit-search/conversation.ts';
import { MOST_FILES } from '../../edit-search/edit-search.ts';
import { searchFix } from '../../edit-search/search.ts';
import { call, type EditChoice, type OfferedEdit, type Step } from '../../edit-search/steps.ts';
import {
  encodeMessages,
  type FormatCall,
  type FormatMessage,
  generationPrompt,
  replyIds,
} from '../chat-format.ts';
import { type PolicyTokenizer, rememberingTokenizer } from '../tokenizer.ts';
import type { WeightedReply } from './reply-set.ts';
import { createTrust } from './trust.ts';

export interface DecisionOptions {
  /** Weights of the edits are edit-search's scores to this power; 0: all weigh the same. */
  readonly priorPower: number;
  /** Edits that are offered, the best by score. */
  readonly mostEdits: number;
  /** How far the scores are trusted more than the network when an attempt begins, 0 to 1 (trust.ts). Default: 0. */
  readonly byScores?: number;
  /**
   * Where the scores alone draw: in proportion to them to this power, on top of `priorPower`. Default: 1. The scores
   * are meant as an order, and their proportions say less: a draw by them alone searches worse than their order
   * with a little noise.
   */
  readonly scoresPower?: number;
}

/** What comes next in an attempt: calls that follow by themselves, or a choice for the policy. */
export type Decision =
  | { readonly kind: 'follows'; readonly calls: readonly FormatCall[] }
  | {
      readonly kind: 'choice';
      readonly promptIds: readonly number[];
      /** Turns before it: what tells one choice of an attempt from the next, whose prompt is the same. */
      readonly turn: number;
      readonly replies: readonly WeightedReply[];
      /** Share of the draws that the weights decide alone, 0 to 1. */
      readonly byWeights: number;
      /** Of those draws: the power of the weights. */
      readonly weightsPower: number;
      /**
       * Which of the replies was drawn, and the natural logarithm of what the network gave it; to be called
       * before the next decision.
       */
      readonly take: (index: number, networkLogprob: number) => void;
    };

/** Turns that the search plans with: the budget of an attempt is what binds. */
const TURNS = 200;
/** Files that the policy reads before a choice, as far as they fit. */
const SHOWN_FILES = 3;

/**
 * The embedded policy is edit-search with another choice of what is tried: the same looks, runs and
 * conclusions, but each edit is drawn by the network from those that edit-search would try, with its
 * scores as weights (docs/onnx.md, "Decoding"). So the two differ by what the network knows.
 *
 * Of one attempt; decisions are asked for in its order.
 *
 * @param contextTokens that the prompt may have with its reply
 */
export function createDecisions(
  plain: PolicyTokenizer,
  { priorPower, mostEdits, byScores = 0, scoresPower = 1 }: DecisionOptions,
  contextTokens: number,
): (messages: readonly Message[]) => Decision {
  const tokenizer = rememberingTokenizer(plain);
  const encoded = new Map<string, readonly number[]>();
  let search: ReturnType<typeof searchFix> | undefined;
  let firstMessage = '';
  let turn = 0;
  /** Observations of the edit that was chosen, whose turn the rest of its calls belongs to. */
  let kept: readonly string[] = [];
  let taken: number | undefined;
  const trust = createTrust(byScores);

  const idsOf = (edit: OfferedEdit): readonly number[] => {
    const key = JSON.stringify([edit.path, edit.oldText, edit.newText]);
    const known = encoded.get(key) ?? replyIds(tokenizer, editCall(edit));
    encoded.set(key, known);
    return known;
  };

  const decide = (step: IteratorResult<Step, void>): Decision => {
    if (step.done === true)
      return { kind: 'follows', calls: [call.submit('Nothing is left to try.')] };
    if (step.value.kind === 'turn') return { kind: 'follows', calls: step.value.calls };
    const { texts, edits } = step.value;
    const replies = edits.map((edit) => ({ ids: idsOf(edit), weight: edit.score ** priorPower }));
    const longest = Math.max(...replies.map(({ ids }) => ids.length));
    return {
      kind: 'choice',
      promptIds: choicePrompt(tokenizer, firstMessage, texts, contextTokens - longest),
      turn,
      replies,
      byWeights: trust.inScores(),
      weightsPower: scoresPower,
      take(index, networkLogprob) {
        taken = index;
        const total = replies.reduce((sum, { weight }) => sum + weight, 0);
        trust.failed((replies[index]?.weight ?? 0) / total, Math.exp(networkLogprob));
      },
    };
  };

  return (messages) => {
    turn += 1;
    const seen = lastObservations(messages);
    if (search === undefined) {
      firstMessage = firstUserMessage(messages);
      search = searchFix(firstMessage, 0, {
        turns: TURNS,
        batch: 1,
        files: MOST_FILES,
        offered: mostEdits,
      });
      return decide(search.next([]));
    }
    if (taken !== undefined) {
      // The edit is made; what its turn has besides follows.
      const step = search.next(taken);
      taken = undefined;
      if (step.done === true || step.value.kind !== 'turn') throw new Error('A choice is tried.');
      kept = seen;
      return { kind: 'follows', calls: step.value.calls.slice(1) };
    }
    const observations = [...kept, ...seen];
    kept = [];
    return decide(search.next(observations));
  };
}

export function editCall({ path, oldText, newText }: OfferedEdit): FormatCall {
  return call.replace(path, oldText, newText);
}

/**
 * What the policy reads before a choice: the failure and the files. What was tried and taken back is
 * left out, since the weights know it: so an attempt may try much without filling the context, and a
 * choice reads the same however late it comes.
 */
export function choiceMessages(
  firstMessage: string,
  texts: EditChoice['texts'],
): readonly FormatMessage[] {
  return [
    { role: 'user', content: firstMessage },
    ...[...texts].flatMap(([path, text]): FormatMessage[] => [
      {
        role: 'assistant',
        content: '',
        calls: [{ name: 'bash', arguments: { command: `cat ${path}` } }],
      },
      { role: 'tool', content: text },
    ]),
  ];
}

/**
 * With as many of the files as fit, nearest first; a file that does not fit is left out. A first message that
 * does not even fit by itself is cut at its end, where the code of the tests is.
 */
export function choicePrompt(
  tokenizer: PolicyTokenizer,
  firstMessage: string,
  texts: EditChoice['texts'],
  room: number,
): readonly number[] {
  const shown = new Map<string, string>();
  let first = firstMessage;
  const promptWith = (files: ReadonlyMap<string, string>): number[] => [
    ...encodeMessages(tokenizer, choiceMessages(first, files)),
    ...generationPrompt(tokenizer),
  ];
  let prompt = promptWith(shown);
  while (prompt.length > room && first !== '') {
    first = first.slice(0, Math.floor((0.95 * first.length * room) / prompt.length));
    prompt = promptWith(shown);
  }
  for (const [path, text] of texts) {
    if (shown.size === SHOWN_FILES) break;
    // Tokens are hardly ever ten characters long: what cannot fit is not even encoded.
    if (text.length / 10 > room) continue;
    const longer = promptWith(new Map([...shown, [path, text]]));
    if (longer.length > room) continue;
    shown.set(path, text);
    prompt = longer;
  }
  return prompt;
}
