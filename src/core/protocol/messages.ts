import type { z } from 'zod';
import { schemaProblems } from '../platform/schema-problems.ts';
import { type ClientMessage, clientMessageSchema } from './client-messages.ts';
import { ProtocolError } from './errors.ts';
import { MAX_MESSAGE_BYTES } from './limits.ts';
import { type ServerMessage, serverMessageSchema } from './server-messages.ts';

/** Throws `ProtocolError` (bad_message, too_large); the message names the field, never its value. */
export function parseClientMessage(text: string): ClientMessage {
  return parse(text, clientMessageSchema, 'client');
}

/** Throws `ProtocolError` (bad_message, too_large). */
export function parseServerMessage(text: string): ServerMessage {
  return parse(text, serverMessageSchema, 'server');
}

function parse<Message>(text: string, schema: z.ZodType<Message>, side: string): Message {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_MESSAGE_BYTES) {
    throw new ProtocolError(
      'too_large',
      `a message of the ${side} has ${bytes} bytes; ${MAX_MESSAGE_BYTES} are allowed`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ProtocolError('bad_message', `a message of the ${side} is not JSON`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ProtocolError(
    'bad_message',
    `a message of the ${side}${typeOf(value)} does not fit the protocol: ${schemaProblems(parsed.error)}`,
  );
}

function typeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || !('type' in value)) return '';
  return typeof value.type === 'string' && /^[a-z.]{1,40}$/.test(value.type)
    ? ` (${value.type})`
    : '';
}
