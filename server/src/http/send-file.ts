import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import parseRange from 'range-parser';
import type { FileVerifier, StoredFile } from '../files/verified-file.ts';

/**
 * Answers GET and HEAD with a file under its sha256 as ETag: whole, one range of it, or nothing where the client has
 * it (RFC 9110). Several ranges at once are answered with the whole file, as it allows.
 */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  verifier: FileVerifier,
  stored: StoredFile,
  type = 'application/octet-stream',
): Promise<FastifyReply> {
  const etag = `"${stored.sha256}"`;
  const file = await verifier.open(stored);
  reply.headers({
    etag,
    'accept-ranges': 'bytes',
    // Tokens decide who may have it, so no shared cache; what a hash names never changes.
    'cache-control': 'private, no-transform, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
  });
  // Without `cache-control: no-cache`, which many clients send by themselves: what a hash names cannot be stale.
  if (fresh({ 'if-none-match': request.headers['if-none-match'] }, { etag })) {
    await file.close();
    return reply.status(304).send();
  }
  const range = rangeOf(request, etag, file.bytes);
  if (range === 'unsatisfiable') {
    await file.close();
    return reply
      .status(416)
      .header('content-range', `bytes */${file.bytes}`)
      .header('content-length', '0')
      .send();
  }
  const { start, end } = range ?? { start: 0, end: file.bytes - 1 };
  if (range) reply.status(206).header('content-range', `bytes ${start}-${end}/${file.bytes}`);
  reply.type(type).header('content-length', String(end + 1 - start));
  if (request.method === 'HEAD') {
    await file.close();
    return reply.send();
  }
  const content = Readable.from(file.read(start, end), { objectMode: false });
  // Also where nobody reads it to its end.
  content.once('close', () => void file.close());
  return reply.send(content);
}

function rangeOf(
  { headers }: FastifyRequest,
  etag: string,
  bytes: number,
): { readonly start: number; readonly end: number } | 'unsatisfiable' | undefined {
  const { range } = headers;
  if (range === undefined) return undefined;
  // A weak tag or a date never says that the bytes are the same.
  const condition = headers['if-range'];
  if (condition !== undefined && condition !== etag) return undefined;
  const parsed = parseRange(bytes, range, { combine: true });
  if (parsed === -1) return 'unsatisfiable';
  if (parsed === -2 || parsed.type !== 'bytes') return undefined;
  const [first, second] = parsed;
  return second === undefined ? first : undefined;
}
