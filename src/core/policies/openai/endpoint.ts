import { isLoopbackHostname } from '../../platform/loopback.ts';

/** Where an OpenAI-compatible server is, however its address was typed. */
export interface Endpoint {
  readonly origin: string;
  /** Path in front of `/chat/completions`, usually `/v1`; no slash at the end. */
  readonly path: string;
  /** `?…` of the address, kept as it is (some hosts want an API version). */
  readonly search: string;
  /** What people may see: host, port and path; never a user name, password or query. */
  readonly label: string;
  /** From `user:password@` in the address. */
  readonly authorization?: string;
}

export type EndpointResult =
  | { readonly kind: 'endpoint'; readonly endpoint: Endpoint }
  | { readonly kind: 'invalid'; readonly message: string };

const KNOWN_TAILS = /\/(?:chat\/completions|completions|models|embeddings|responses)$/;

/** Takes `http://host:port`, the same with `/v1`, with a slash at the end, or a full path pasted. */
export function parseEndpoint(address: string): EndpointResult {
  const typed = address.trim();
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `http://${typed}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url === undefined || url.hostname === '' || /\s/.test(typed)) {
    return invalid(
      'The address of the endpoint is not a URL. It looks like http://127.0.0.1:8000/v1.',
    );
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return invalid(
      `The address of the endpoint must start with http:// or https://, not ${url.protocol}//.`,
    );
  }
  const authorization = basic(url);
  if (authorization === undefined) {
    return invalid(
      'The user name or password in the address of the endpoint is not well encoded (%XX).',
    );
  }
  const path = url.pathname.replace(/\/+$/, '').replace(KNOWN_TAILS, '').replace(/\/+$/, '');
  const endpoint: Endpoint = {
    origin: url.origin,
    path: path === '' ? '/v1' : path,
    search: url.search,
    label: `${url.origin}${path === '' ? '/v1' : path}`,
    ...(authorization === '' ? {} : { authorization }),
  };
  return { kind: 'endpoint', endpoint };
}

export function isLoopback(endpoint: Endpoint): boolean {
  return isLoopbackHostname(new URL(endpoint.origin).hostname);
}

/** Empty without a user name; undefined when it cannot be decoded. */
function basic(url: URL): string | undefined {
  if (url.username === '') return '';
  try {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
  } catch {
    return undefined;
  }
}

function invalid(message: string): EndpointResult {
  return { kind: 'invalid', message };
}
