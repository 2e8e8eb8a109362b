import { errors } from 'undici';
import { PolicyFailure } from '../policy.ts';
import { TimedOut } from './http.ts';
import { errorText } from './wire.ts';

/** A failure and whether asking again can help. */
export interface Trouble {
  readonly failure: PolicyFailure;
  readonly retry: boolean;
  /** The server's own wish, milliseconds. */
  readonly retryAfterMs?: number;
}

export interface Place {
  /** Address without secrets. */
  readonly label: string;
  readonly model: string;
  /** It answered before, so that a refused connection is a restart and not a wrong address. */
  readonly answeredBefore: boolean;
}

const START_HINT =
  'Start the server, or check host and port of the address (Ollama: 11434, llama.cpp: 8080, LM Studio: 1234, vLLM: 8000).';

const TLS_CODES =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET|VERIFY)|EPROTO$|HOSTNAME_MISMATCH)/;

/** What happened on the way to the server or back. */
export function networkTrouble(error: unknown, place: Place): Trouble {
  const { label } = place;
  if (error instanceof TimedOut) return timeoutTrouble(error, label);
  const code = codeOf(error);
  const detail = code === undefined ? messageOf(error) : code;
  if (code === 'ECONNREFUSED') {
    return trouble(
      'unreachable',
      `Nothing listens at ${label} (connection refused).`,
      START_HINT,
      place.answeredBefore,
    );
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return trouble(
      'unreachable',
      `The host name in ${label} is not known (${code}).`,
      'Check the spelling of the host and whether this machine can resolve names.',
      code === 'EAI_AGAIN',
    );
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return trouble(
      'unreachable',
      `No connection to ${label} in time.`,
      'Check that the host is up, that a firewall lets you through, and whether a proxy (HTTPS_PROXY, NO_PROXY) is needed.',
      true,
    );
  }
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') {
    return trouble(
      'unreachable',
      `There is no route to ${label} (${code}).`,
      'Check the network connection or the VPN.',
      true,
    );
  }
  if (code !== undefined && TLS_CODES.test(code)) return tlsTrouble(code, label);
  if (error instanceof errors.HTTPParserError || code?.startsWith('HPE_') === true) {
    return trouble(
      'bad-response',
      `What listens at ${label} does not speak HTTP.`,
      'Check the port, and whether the address needs https:// instead of http://.',
      false,
    );
  }
  if (/^Proxy (?:response|Authentication)/.test(messageOf(error))) {
    return trouble(
      'unreachable',
      `The proxy did not connect to ${label}: ${messageOf(error)}.`,
      'Check HTTP_PROXY and HTTPS_PROXY, or add the host to NO_PROXY.',
      false,
    );
  }
  return trouble(
    'unreachable',
    `The connection to ${label} broke off (${detail}).`,
    'See the log of the server: it may have crashed, restarted or run out of memory.',
    true,
  );
}

function timeoutTrouble(error: TimedOut, label: string): Trouble {
  const seconds = Math.round(error.ms / 100) / 10;
  return error.wait === 'silence'
    ? trouble(
        'unreachable',
        `${label} fell silent for ${seconds} s in the middle of a reply.`,
        'See the log of the server; a smaller model or a longer silence timeout may help.',
        true,
      )
    : trouble(
        'unreachable',
        `${label} sent nothing within ${seconds} s.`,
        'The server may be overloaded or still loading the model; see its log, or allow a longer time to the first token.',
        false,
      );
}

function tlsTrouble(code: string, label: string): Trouble {
  const plain = code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER';
  return trouble(
    'unreachable',
    plain
      ? `${label} does not speak TLS (${code}).`
      : `The certificate of ${label} is not trusted (${code}).`,
    plain
      ? 'Write http:// instead of https://, if the server is meant to be plain.'
      : 'Name the certificate of your authority as a PEM file (caFile, or the variable NODE_EXTRA_CA_CERTS).',
    false,
  );
}

/** Usual wordings of vLLM, llama.cpp, OpenAI, Ollama, LM Studio, SGLang, TGI and others. */
const CONTEXT_WORDS =
  /context[_ ](?:length|size|window)|maximum context|exceed_context|max_model_len|context the overflows|prompt is too long|too many (?:input )?tokens|input (?:is )?too long|(?:input|sequence) length|(?:exceeds?|than) (?:the )?(?:model'?s? )?(?:available |maximum )?context|inputs`? tokens? \+|maximum number of tokens|reduce the length of/i;

export function isContextOverflow(status: number, said: string): boolean {
  return [400, 413, 422, 500].includes(status) && CONTEXT_WORDS.test(said);
}

/**
 * Tokens that still fit, when a server refused prompt plus reply although the prompt alone fits;
 * undefined when its message does not say so.
 */
export function roomInContext(said: string): number | undefined {
  const limit =
    /(?:maximum (?:context|model) length (?:is|of)|context length (?:is|of)(?: only)?|context window of) (\d+)/i.exec(
      said,
    );
  const prompt =
    /\((\d+) in the messages/i.exec(said) ??
    /(?:request has|contains?|prompt (?:has|contains)) (?:at least )?(\d+) (?:text |input )*tokens/i.exec(
      said,
    );
  if (limit?.[1] === undefined || prompt?.[1] === undefined) return undefined;
  return Number(limit[1]) - Number(prompt[1]);
}

/** What a status other than 200 means. `said` is the server's message, already without secrets. */
export function statusTrouble(
  status: number,
  said: string,
  retryAfter: string | undefined,
  place: Place,
): Trouble {
  const { label, model } = place;
  const quote = said === '' ? '' : `: ${said}`;
  if (isContextOverflow(status, said)) {
    return trouble(
      'context-exceeded',
      `The conversation no longer fits into the context of ${model}${quote}`,
      'Start the server with a larger context, or use a model that has one.',
      false,
    );
  }
  if (status === 401 || status === 403) {
    return trouble(
      'unauthorized',
      `${label} refused access (${status})${quote}`,
      status === 401
        ? 'Give a valid API key.'
        : 'The API key is known but may not use this model or address; check its rights.',
      false,
    );
  }
  if (status === 407) {
    return trouble(
      'unauthorized',
      `The proxy in front of ${label} wants a name and a password (407).`,
      'Put them into HTTPS_PROXY (http://name:password@host:port), or add the host to NO_PROXY.',
      false,
    );
  }
  if (status === 429) return rateTrouble(said, quote, retryAfter, label);
  if (status >= 500 || status === 408) {
    const after = retryAfterMs(retryAfter);
    return {
      ...trouble(
        'unreachable',
        `${label} failed with status ${status}${quote}`,
        status === 503
          ? 'It may still be loading the model; try again later.'
          : 'See the log of the server.',
        true,
      ),
      ...(after === undefined ? {} : { retryAfterMs: after }),
    };
  }
  if (status >= 300 && status < 400) {
    return trouble(
      'bad-response',
      `${label} redirects to another address (${status}).`,
      'Use the final address, often the same with https://.',
      false,
    );
  }
  return trouble(
    'bad-request',
    `${label} refused the request (${status})${quote}`,
    'Check the name of the model and the settings of the policy.',
    false,
  );
}

function rateTrouble(
  said: string,
  quote: string,
  retryAfter: string | undefined,
  label: string,
): Trouble {
  const spent = /insufficient_quota|billing|exceeded your current quota|credit/i.test(said);
  const after = retryAfterMs(retryAfter);
  const wait = after === undefined ? '' : `; it asks to wait ${Math.ceil(after / 1000)} s`;
  return {
    ...trouble(
      'rate-limited',
      `${label} limits the rate of requests (429${wait})${quote}`,
      spent
        ? 'The account has no credit left; see the billing page of the provider.'
        : 'Wait, run fewer attempts at once, or use another endpoint.',
      !spent,
    ),
    ...(after === undefined ? {} : { retryAfterMs: after }),
  };
}

/** Seconds or a date, as HTTP defines it. */
export function retryAfterMs(value: string | undefined, now = Date.now()): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** What an error body says, in one short line; a web page is named by its title. */
export function saidBy(body: string): string {
  const text = body.trim();
  if (text.startsWith('<')) {
    const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1]?.trim();
    return title === undefined ? 'a web page' : `a web page titled "${title}"`;
  }
  let said: string | undefined;
  try {
    said = errorText(JSON.parse(text));
  } catch {
    said = undefined;
  }
  const line = (said ?? text).replace(/\s+/g, ' ').trim();
  return line.length <= 500 ? line : `${line.slice(0, 500)}…`;
}

/** Never let a key into a message, also when the server repeats it. */
export function withoutSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  return secrets.reduce<string>(
    (clean, secret) =>
      secret === undefined || secret.length < 4 ? clean : clean.replaceAll(secret, '[API key]'),
    text,
  );
}

export function trouble(
  kind: PolicyFailure['kind'],
  message: string,
  remedy: string,
  retry: boolean,
): Trouble {
  return { failure: new PolicyFailure(kind, message, remedy), retry };
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string' && code !== 'UND_ERR_SOCKET') return code;
  return codeOf(cause) ?? (typeof code === 'string' ? code : undefined);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
