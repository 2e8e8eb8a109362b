import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { ProtocolError, wireErrorSchema } from '../protocol/errors.ts';

const bodySchema = z.object({ error: wireErrorSchema });
const MAX_BYTES = 16 * 1024;

/** What the server says of a request that it did not answer with what was asked for. */
export async function refusalOf(
  status: number,
  body: Dispatcher.ResponseData['body'],
  path: string,
): Promise<ProtocolError> {
  let text = '';
  for await (const piece of body) {
    text += String(piece);
    if (text.length > MAX_BYTES) break;
  }
  try {
    const { code, message, retryAfterMs } = bodySchema.parse(JSON.parse(text)).error;
    return new ProtocolError(code, message, retryAfterMs);
  } catch {
    return new ProtocolError(
      status >= 500 ? 'internal' : 'bad_message',
      `${path} was answered with status ${status}, and not in words of this protocol: is the address that of a training server?`,
    );
  }
}
