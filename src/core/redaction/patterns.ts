import { isSecretName } from './environment.ts';
import type { Detector, Finding } from './finding.ts';
import { MARKER } from './finding.ts';
import { findPrivateKeys } from './private-keys.ts';
import {
  isCommonValue,
  isIssued,
  isPlaceholder,
  looksLikeName,
  looksRandom,
} from './randomness.ts';

/**
 * Secrets that are recognised by their form, beyond secretlint's rules. Each pattern takes the
 * secret part alone: group `secret`, or the whole match. Group `name` must be a secret's name.
 */
interface Pattern {
  readonly kind: string;
  readonly expression: RegExp;
  /** Cheap test that most texts fail. */
  readonly hint: RegExp;
  readonly accept?: (
    secret: string,
    groups: Readonly<Record<string, string | undefined>>,
  ) => boolean;
}

const PATTERNS: readonly Pattern[] = [
  {
    kind: 'jwt',
    hint: /eyJ/,
    expression: /eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/g,
  },
  {
    // Any scheme: https, postgres, amqp, redis, ssh … The user part may be empty.
    kind: 'url-password',
    hint: /:\/\//,
    expression:
      /[A-Za-z][A-Za-z0-9+.-]{1,20}:\/\/[^\s:/@"'<>]{0,256}:(?<secret>[^\s/"'<>]{1,512}|[^\s@"'<>]{1,512})@(?=[\w[.%-])/dg,
    accept: (secret) =>
      !isPlaceholder(secret) && !isCommonValue(secret) && !/^.{1,3}$|^\d+\/|^\/\//.test(secret),
  },
  {
    // https://TOKEN@host: a user name that is a token.
    kind: 'url-token',
    hint: /:\/\//,
    expression: /[A-Za-z][A-Za-z0-9+.-]{1,20}:\/\/(?<secret>[^\s:/@"'<>]{16,512})@(?=[\w[.%-])/dg,
    accept: (secret) => looksRandom(secret, 16),
  },
  {
    kind: 'authorization',
    hint: /authorization/i,
    expression:
      /authorization["'`\]]*\s*[:=,]\s*[bru]?["'`]?(?<scheme>Bearer|Basic|Token|ApiKey|Digest|Negotiate)\s+(?<secret>[A-Za-z0-9._~+/=:-]{6,})/dgi,
    accept: (secret, { scheme }) =>
      !isCommonValue(secret) &&
      !isPlaceholder(secret) &&
      (scheme?.toLowerCase() === 'basic'
        ? isBasicPair(secret)
        : looksRandom(secret, 8) || secret.length >= 20),
  },
  {
    kind: 'authorization',
    hint: /bearer/i,
    expression: /\bbearer\s+(?<secret>[A-Za-z0-9._~+/=-]{16,})/dgi,
    accept: (secret) => looksRandom(secret, 16),
  },
  {
    // .netrc, on one line or several, also in a numbered view.
    kind: 'netrc',
    hint: /machine|default/,
    expression:
      /\b(?:machine[\s\d:|+>-]+\S+|default)[\s\d:|+>-]+login[\s\d:|+>-]+\S+[\s\d:|+>-]+(?:account\s+\S+[\s\d:|+>-]+)?password[ \t]+(?<secret>\S+)/dg,
    accept: (secret) => secret.length >= 6 && !isCommonValue(secret) && !isPlaceholder(secret),
  },
  {
    // The password's line of a .netrc by itself.
    kind: 'netrc',
    hint: /password/,
    expression: /(?<=^|[\s:+>-])password[ \t]+(?<secret>\S+)[ \t]*$/dgm,
    accept: (secret) => looksRandom(secret, 8),
  },
  {
    // curl -u name:password
    kind: 'command-password',
    hint: /-u|--user/,
    expression: /(?<=\s)(?:-u|--user)[ =]["']?[^\s:"']+:(?<secret>[^\s"']{6,})/dg,
    accept: (secret) => !/^\d+$/.test(secret) && !isPlaceholder(secret) && !isCommonValue(secret),
  },
  {
    // ADO/ODBC: Server=…;Password=…;
    kind: 'connection-string',
    hint: /;\s*(?:password|pwd|accountkey|sharedaccesskey)\s*=/i,
    expression:
      /;\s*(?:password|pwd|accountkey|sharedaccesskey)\s*=\s*(?<secret>[^;"'\r\n]{4,})/dgi,
    accept: (secret) => !isPlaceholder(secret),
  },
  {
    // PostgreSQL's password file: host:port:database:user:password
    kind: 'pgpass',
    hint: /:(?:54\d\d|\*):/,
    expression: /[\w.*-]+:(?:54\d\d|\*):[\w*-]+:[\w*-]+:(?<secret>[^\s:]{8,})/dg,
    accept: (secret) => /\d/.test(secret),
  },
  {
    // Forms of a fixed length and alphabet: they tell by themselves, so letters alone count as well,
    // and a key that ends an address or follows an escape (`\n`, a colour) needs no word border.
    kind: 'token',
    hint: /AIza|hf_/,
    expression:
      /(?:(?<![A-Za-z0-9])|(?<=\\[abfnrtv])|(?<=\[[\d;]*m))(?:AIza[A-Za-z0-9_-]{35}|hf_[A-Za-z0-9]{30,40}(?![A-Za-z0-9]))/g,
    accept: (secret) =>
      isIssued(secret.slice(3)) && (!secret.startsWith('hf_') || !looksLikeName(secret.slice(3))),
  },
  {
    kind: 'token',
    hint: /gl[a-z]{2,6}-|[rs]k_(?:live|test)_|pypi-|do[opr]_v1_|ya29\.|gsk_|sk-|ATATT|dckr_|glsa_|phc_|xai-|r8_|whsec_|eyJ|nvapi-|pul-|rubygems_|figd_|secret_|dapi|tvly-/,
    expression:
      /\b(?:gl(?:pat|ptt|dt|rt|cbt|ft|agent|soat|imt)-[A-Za-z0-9_.-]{20,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,}|pypi-[A-Za-z0-9_-]{32,}|do[opr]_v1_[a-f0-9]{40,}|ya29\.[A-Za-z0-9_-]{20,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|nvapi-[A-Za-z0-9_-]{40,}|sk-(?:[a-z]{2,8}-)*[A-Za-z0-9_-]{32,}|ATATT3[A-Za-z0-9_=-]{20,}|dckr_pat_[A-Za-z0-9_-]{20,}|glsa_[A-Za-z0-9_]{32,}|phc_[A-Za-z0-9]{32,}|pul-[a-f0-9]{40}|rubygems_[a-f0-9]{40,}|figd_[A-Za-z0-9_-]{32,}|secret_[A-Za-z0-9]{40,}|dapi[a-f0-9]{32}|tvly-[A-Za-z0-9-]{24,})/g,
    accept: (secret) => looksRandom(secret, 16),
  },
  {
    // name = "value" in code and configuration; name: 'value'; "name": "value"; messages: name 'value'
    kind: 'assignment',
    hint: /secret|token|passw|pwd|passphrase|key|credential|auth|cookie|dsn|salt|private|webhook|pat/i,
    expression:
      /(?<![\w.])(?<name>[A-Za-z_][\w.-]{1,60})(?:\\?["'`])?\]?(?:\s*(?::\s*[A-Za-z]{1,12}\s*)?(?:=>|:=|={1,3}|:|,)\s*|[ \t]+)[bruf]?(?<quote>\\?["'`])(?<secret>(?:(?!\k<quote>)[^\s\\]){6,512})\k<quote>/dg,
    accept: (secret, { name = '' }) =>
      (isSecretName(name) && !isWeakName(name) && looksRandom(secret)) ||
      isDockerAuth(name, secret),
  },
  {
    // The same without quotes: YAML, INI, headers, query strings, printed `name: value`.
    kind: 'assignment',
    hint: /secret|token|passw|pwd|passphrase|key|credential|auth|cookie|dsn|salt|private|webhook|pat/i,
    expression:
      /(?<![\w.])(?<name>[A-Za-z_][\w.-]{1,60})["']?\s*(?:=>|:=|=|:)\s*(?<secret>[A-Za-z0-9+/_~!@#%^*-][A-Za-z0-9+/_~!@#%^*=-]{11,512})(?![\w.(["'])/dg,
    accept: (secret, { name = '' }) =>
      isSecretName(name) && !isWeakName(name) && looksRandom(secret),
  },
  {
    // NAME=value as in .env and `env`: configuration and not code, so any value counts.
    kind: 'assignment',
    hint: /[A-Z]=\S/,
    expression:
      /(?:^|(?<=[\s:"'`;+>-]))(?<name>[A-Z][A-Z0-9_]{2,60})=(?<quote>["']?)(?<secret>[^\s"'`$;]{6,512})\k<quote>(?=[\s"'`;]|$)/dgm,
    accept: (secret, { name = '' }) =>
      isSecretName(name) &&
      (!isWeakName(name) || looksRandom(secret, 10)) &&
      !/^(?:[A-Z]+_)?(?:PWD|OLDPWD)$/.test(name) &&
      !isCommonValue(secret) &&
      !isPlaceholder(secret) &&
      !/^\d{1,11}$|^[\w.-]*[/\\(]|^[a-z]+:\/\/|^[A-Za-z_.]+\(|^[a-z]+\.[a-zA-Z.]+$/.test(secret),
  },
];

/** Names that end in a word that makes them harmless: `key` alone, `primary_key`, `token_count`. */
function isWeakName(name: string): boolean {
  return /^(?:key|keys|pin|auth|salt|pass)$|(?:primary|foreign|sort|cache|partition|group|public|lookup|object|dict|map|routing|translation|i18n)[_-]?keys?$|(?:_|-)(?:count|limit|type|name|id|path|file|dir|ttl|length|size|index|field|url|uri|header|hash|sha256|version)$/i.test(
    name,
  );
}

/** Docker's configuration: `"auth": "…"`, base64 of name and password. */
function isDockerAuth(name: string, secret: string): boolean {
  return name === 'auth' && secret.length >= 12 && isBasicPair(secret);
}

/** Basic credentials are base64 of `name:password`. */
function isBasicPair(value: string): boolean {
  return /^[A-Za-z0-9+/]{6,}={0,2}$/.test(value) && Buffer.from(value, 'base64').includes(':');
}

export const findByForm: Detector = (text) => {
  const findings: Finding[] = [...findPrivateKeys(text)];
  for (const { kind, hint, expression, accept } of PATTERNS) {
    if (!hint.test(text)) continue;
    for (const match of text.matchAll(expression)) {
      const secret = match.groups?.secret ?? match[0];
      if (secret.startsWith(MARKER)) continue;
      if (accept && !accept(secret, match.groups ?? {})) continue;
      const [start, end] = match.indices?.groups?.secret ?? [
        match.index,
        match.index + match[0].length,
      ];
      findings.push({ start, end, kind });
    }
  }
  return findings;
};
