/** In the order of their ids, from 0; the same list as in server/learner/prime_learner/conversation.py. */
export const SPECIAL_TOKENS = [
  '<|endoftext|>',
  '<|im_start|>',
  '<|im_end|>',
  '<|call|>',
  '<|arg|>',
  '<|value|>',
  '<|end_call|>',
] as const;

export const PADDING_ID = 0;
export const START_ID = 1;
export const END_OF_TURN_ID = 2;
export const CALL_ID = 3;
export const ARGUMENT_ID = 4;
export const VALUE_ID = 5;
export const END_CALL_ID = 6;

/** A fresh expression each time: a global one keeps its place between uses. */
export function specialSpelling(tokens: readonly string[] = SPECIAL_TOKENS): RegExp {
  return new RegExp(tokens.map((token) => token.replaceAll('|', '\\|')).join('|'), 'g');
}

/** How a special token is written in a message; an id that is none gives its number. */
export function spellingOf(id: number): string {
  return SPECIAL_TOKENS[id] ?? String(id);
}
