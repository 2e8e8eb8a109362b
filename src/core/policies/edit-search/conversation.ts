import type { Message } from '../../agent/messages.ts';

/** Where an attempt begins: the failure. */
export function firstUserMessage(messages: readonly Message[]): string {
  return messages.find(({ role }) => role === 'user')?.content ?? '';
}

/** The answers to the last reply, in the order of its calls. */
export function lastObservations(messages: readonly Message[]): readonly string[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(last + 1).flatMap((m) => (m.role === 'tool' ? [m.content] : []));
}
