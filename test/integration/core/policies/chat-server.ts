import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** What a test's server was asked. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

export type Answer = (asked: Asked, response: ServerResponse, count: number) => unknown;

export interface ChatServer {
  readonly port: number;
  readonly baseUrl: string;
  /** Chat requests only. */
  readonly chats: Asked[];
  close(): Promise<void>;
}

export interface ChatServerOptions {
  readonly models?: Answer;
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A real HTTP server on a free port; `answer` writes every byte of a chat reply itself. */
export async function startChatServer(
  answer: Answer,
  options: ChatServerOptions = {},
): Promise<ChatServer> {
  const chats: Asked[] = [];
  const models = options.models ?? modelList('tiny');
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    const asked: Asked = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    };
    if (asked.url.startsWith('/v1/models')) {
      await models(asked, response, 0);
      return;
    }
    chats.push(asked);
    await answer(asked, response, chats.length);
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    handle(request, response).catch(() => response.destroy());
  };
  const server =
    options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    baseUrl: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/v1`,
    chats,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function modelList(...ids: readonly string[]): Answer {
  return (_, response) => json(response, 200, { object: 'list', data: ids.map((id) => ({ id })) });
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export interface Piece {
  readonly [key: string]: unknown;
}

export function delta(content: string, more: Piece = {}): Piece {
  return { choices: [{ index: 0, delta: { content }, ...more }] };
}

export const STOP: Piece = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
export const USAGE: Piece = { choices: [], usage: { prompt_tokens: 10, completion_tokens: 3 } };

export function events(...pieces: readonly Piece[]): string {
  return [...pieces.map((piece) => JSON.stringify(piece)), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');
}

export function stream(response: ServerResponse, ...pieces: readonly Piece[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(events(...pieces));
}
