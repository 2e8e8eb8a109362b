import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import { PolicyFailure } from '../policy.ts';
import { type Endpoint, isLoopback } from './endpoint.ts';

export interface Timeouts {
  readonly connectMs: number;
  /** From sending a request to the first byte of the reply: long, the prompt is read first. */
  readonly firstTokenMs: number;
  /** Between two pieces of a reply. */
  readonly silenceMs: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  firstTokenMs: 300_000,
  silenceMs: 120_000,
};

/** A request took too long; which wait it was decides what to tell. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
  readonly wait: 'connect' | 'first-token' | 'silence';
  readonly ms: number;
  constructor(wait: 'connect' | 'first-token' | 'silence', ms: number) {
    super(`${wait} after ${ms} ms`);
    this.wait = wait;
    this.ms = ms;
  }
}

/**
 * HTTP(S)_PROXY and NO_PROXY are honoured, except for this machine itself: a proxy cannot reach it,
 * and many set the proxy without the exception. `caFile` (PEM) is added to the usual certificates;
 * NODE_EXTRA_CA_CERTS works as everywhere in Node.
 */
export function createDispatcher(
  endpoint: Endpoint,
  options: { readonly caFile?: string | undefined; readonly connectMs: number },
): Dispatcher {
  const ca = options.caFile === undefined ? undefined : certificates(options.caFile);
  const tls = ca === undefined ? {} : { ca };
  const common = {
    connect: { timeout: options.connectMs, ...tls },
    // Our own clocks watch the reply: they know a slow prompt from a silent server.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (isLoopback(endpoint)) return new Agent(common);
  return new EnvHttpProxyAgent({ ...common, requestTls: tls, proxyTls: tls });
}

function certificates(caFile: string): string[] {
  const extra = process.env.NODE_EXTRA_CA_CERTS;
  const files = extra === undefined || extra === '' ? [caFile] : [caFile, extra];
  return [...rootCertificates, ...files.map(readCertificates)];
}

function readCertificates(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new PolicyFailure(
      'bad-request',
      `The certificate file ${file} cannot be read (${code ?? 'unknown error'}).`,
      'Name a readable file with certificates in PEM form.',
    );
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    throw new PolicyFailure(
      'bad-request',
      `The certificate file ${file} holds no certificate in PEM form.`,
      'A PEM file has lines with -----BEGIN CERTIFICATE-----; convert DER files with "openssl x509 -inform der".',
    );
  }
  return text;
}

export interface Exchange {
  readonly dispatcher: Dispatcher;
  readonly endpoint: Endpoint;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: Timeouts;
}

export interface HttpReply {
  readonly status: number;
  header(name: string): string | undefined;
  /** Pieces of text; ends or throws as the connection does; `TimedOut` when it falls silent. */
  readonly text: AsyncGenerator<string, void, undefined>;
}

/** @param route `/chat/completions`, `/models` … */
export async function send(
  exchange: Exchange,
  method: 'GET' | 'POST',
  route: string,
  body: unknown,
  signal: AbortSignal,
): Promise<HttpReply> {
  signal.throwIfAborted();
  const { endpoint, timeouts } = exchange;
  const watch = createWatch(signal);
  watch.expect('first-token', timeouts.firstTokenMs);
  try {
    const response = await watch.guard(
      request(`${endpoint.origin}${endpoint.path}${route}${endpoint.search}`, {
        method,
        dispatcher: exchange.dispatcher,
        headers: {
          accept: 'text/event-stream, application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...exchange.headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: watch.signal,
      }),
    );
    return {
      status: response.statusCode,
      header: (name) => {
        const value = response.headers[name];
        return Array.isArray(value) ? value[0] : value;
      },
      text: readText(response.body, watch, timeouts),
    };
  } catch (error) {
    watch.stop();
    throw error;
  }
}

async function* readText(
  body: AsyncIterable<Uint8Array> & {
    destroy(): unknown;
    on(event: 'error', listener: () => void): unknown;
  },
  watch: Watch,
  timeouts: Timeouts,
): AsyncGenerator<string, void, undefined> {
  // An abort between two reads must not become an uncaught error.
  body.on('error', () => {});
  const decoder = new TextDecoder('utf-8');
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await watch.guard(iterator.next());
      if (next.done === true) break;
      watch.expect('silence', timeouts.silenceMs);
      const text = decoder.decode(next.value, { stream: true });
      if (text !== '') yield text;
    }
    const rest = decoder.decode();
    if (rest !== '') yield rest;
  } finally {
    watch.stop();
    body.destroy();
  }
}

interface Watch {
  readonly signal: AbortSignal;
  expect(wait: 'first-token' | 'silence', ms: number): void;
  /** Rejects at once when the signal aborts, even if the library needs longer to notice. */
  guard<T>(work: Promise<T>): Promise<T>;
  stop(): void;
}

function createWatch(outer: AbortSignal): Watch {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const abort = () => controller.abort(outer.reason);
  outer.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    expect(wait, ms) {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(new TimedOut(wait, ms)), ms);
    },
    guard(work) {
      return new Promise((resolve, reject) => {
        const onAbort = () => reject(controller.signal.reason);
        if (controller.signal.aborted) onAbort();
        controller.signal.addEventListener('abort', onAbort, { once: true });
        work.then(resolve, reject).finally(() => {
          controller.signal.removeEventListener('abort', onAbort);
        });
      });
    },
    stop() {
      clearTimeout(timer);
      outer.removeEventListener('abort', abort);
    },
  };
}

/** The whole text, up to a bound that no real reply reaches. */
export async function readAll(reply: HttpReply, maxChars = 64_000_000): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for await (const part of reply.text) {
    parts.push(part);
    length += part.length;
    if (length > maxChars) break;
  }
  return parts.join('');
}
