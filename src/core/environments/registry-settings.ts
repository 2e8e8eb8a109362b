import { readFile } from 'node:fs/promises';
import { runProgram } from '../platform/run-program.ts';
import { SCRATCH } from './description.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * How this machine reaches package registries. Given to the commands of a set-up and to nothing
 * else: it may hold passwords, so neither images nor sessions ever have it.
 */
export interface RegistrySettings {
  readonly variables: Readonly<Record<string, string>>;
  /** Contents of files (PEM) by the path at which the variables name them. */
  readonly files: Readonly<Record<string, string>>;
}

export const NO_SETTINGS: RegistrySettings = { variables: {}, files: {} };

/** Proxies, registries and indexes of the package managers that are known here. */
const PASSED =
  /^(?:(?:https?|no|all)_proxy|npm_config_(?:registry|https?_proxy|proxy|noproxy|\/\/.*|@.*)|yarn_npm_registry_server|yarn_registry|pip_(?:index_url|extra_index_url|trusted_host|proxy)|uv_(?:index|index_url|default_index|extra_index_url|insecure_host|index_\w+_(?:username|password))|poetry_(?:repositories|http_basic)_\w+|goproxy|gosumdb|gonosumdb|goprivate|gonoproxy|cargo_registries_\w+|cargo_http_proxy)$/i;

/** Certificates that come on top of the built-in ones. */
const ADDED = `${SCRATCH}/added-certificates.pem`;
/** All certificates there are. */
const WHOLE = `${SCRATCH}/certificates.pem`;

const WHOLE_FROM = ['SSL_CERT_FILE', 'PIP_CERT', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'];
const WHOLE_TO = [
  'SSL_CERT_FILE',
  'PIP_CERT',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'CARGO_HTTP_CAINFO',
  'YARN_HTTPS_CA_FILE_PATH',
];

/** What a file of settings says, asked of the program it belongs to. */
const ASKED: readonly (readonly [variable: string, program: string, args: readonly string[]])[] = [
  ['npm_config_registry', 'npm', ['config', 'get', 'registry']],
  ['PIP_INDEX_URL', 'pip', ['config', 'get', 'global.index-url']],
  ['PIP_EXTRA_INDEX_URL', 'pip', ['config', 'get', 'global.extra-index-url']],
];
const ASK_MS = 20_000;

/**
 * The settings of this machine: from its variables, and from npm and pip, when they are there.
 *
 * @param variables the host's environment
 */
export async function hostRegistrySettings(variables: Variables): Promise<RegistrySettings> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value && PASSED.test(name)) passed[name] = value;
  }
  const has = (name: string): boolean =>
    Object.keys(passed).some((other) => other.toLowerCase() === name.toLowerCase());
  await Promise.all(
    ASKED.map(async ([name, program, args]) => {
      if (has(name)) return;
      // Not in a folder of somebody's project: its settings are its own.
      const options = { cwd: '/', timeoutMs: ASK_MS, env: { ...variables } };
      const { code, stdout } = await runProgram(program, args, options);
      const value = stdout.trim();
      if (code === 0 && /^https?:\/\/\S+$/.test(value)) passed[name] = value;
    }),
  );
  // Yarn reads nothing of npm's.
  const registry = Object.entries(passed).find(([name]) =>
    /^npm_config_registry$/i.test(name),
  )?.[1];
  if (registry !== undefined && !has('YARN_NPM_REGISTRY_SERVER')) {
    passed.YARN_NPM_REGISTRY_SERVER = registry.replace(/\/$/, '');
  }
  const files: Record<string, string> = {};
  const whole = await firstFile(WHOLE_FROM.map((name) => variables[name]));
  if (whole !== undefined) {
    files[WHOLE] = whole;
    for (const name of WHOLE_TO) passed[name] = WHOLE;
  }
  const added = await firstFile([variables.NODE_EXTRA_CA_CERTS]);
  if (added !== undefined) files[ADDED] = added;
  if (added !== undefined || whole !== undefined) {
    passed.NODE_EXTRA_CA_CERTS = added === undefined ? WHOLE : ADDED;
  }
  return { variables: passed, files };
}

async function firstFile(paths: readonly (string | undefined)[]): Promise<string | undefined> {
  for (const path of paths) {
    if (!path) continue;
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text?.includes('-----BEGIN')) return text;
  }
  return undefined;
}
