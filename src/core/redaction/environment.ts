import { isCommonValue, isPlaceholder } from './randomness.ts';

/** Shorter values are not looked for on their own: they would hit ordinary words. */
const MIN_SECRET_LENGTH = 8;

const SECRET_PARTS: ReadonlySet<string> = new Set(
  `TOKEN TOKENS KEY KEYS SECRET SECRETS PASSWORD PASSWORDS PASSWD PASSPHRASE PASS PWD CREDENTIAL
  CREDENTIALS CREDS AUTH APIKEY PAT DSN COOKIE PRIVATE ACCESSKEY SECRETKEY PASSCODE SALT
  WEBHOOK`
    .trim()
    .split(/\s+/),
);
const SECRET_ENDING =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|APIKEY|ACCESSKEY|SECRETKEY|PRIVATEKEY|PASSPHRASE)$/;

/** Says the name of a variable that its value is secret? `GITHUB_TOKEN`, `dbPassword`, `apiKey`. */
export function isSecretName(name: string): boolean {
  const parts = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split(/[^A-Z0-9]+/);
  return parts.some((part) => SECRET_PARTS.has(part) || SECRET_ENDING.test(part));
}

/**
 * Values of the host's environment that must never be shown, wherever they turn up.
 *
 * @param environment the host's, for example `process.env`.
 */
export function environmentSecrets(
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const secrets = new Set<string>();
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) continue;
    for (const password of urlPasswords(value)) secrets.add(password);
    if (isSecretName(name) && isSecretValue(value)) secrets.add(value.trim());
  }
  return [...secrets];
}

/** Long enough, and neither a path, a plain address, a number nor a common word. */
export function isSecretValue(raw: string): boolean {
  const value = raw.trim();
  if (value.length < MIN_SECRET_LENGTH) return false;
  if (isCommonValue(value) || isPlaceholder(value)) return false;
  // Paths (SSH_AUTH_SOCK, PWD, key files) and lists of them.
  if (/^(?:[A-Za-z]:)?[\\/]|^~\/|^\.{1,2}\//.test(value)) return isKeyLikePath(value);
  if (/^[a-z][a-z0-9+.-]*:\/\/[^@\s]*$/i.test(value)) return false;
  if (/^\d{1,11}$/.test(value)) return false;
  return true;
}

/** Base64 may begin with a slash: no dot, no second word-like part, letters and digits mixed. */
function isKeyLikePath(value: string): boolean {
  return (
    value.length >= 32 &&
    /^[A-Za-z0-9+/]+={0,2}$/.test(value) &&
    /\d/.test(value) &&
    /[A-Z]/.test(value) &&
    /[a-z]/.test(value) &&
    !/\/(?:home|users?|usr|var|tmp|run|etc|opt|bin|lib|root|mnt|srv|workspaces?)\b/i.test(value)
  );
}

/** The passwords in URLs, as written and decoded. */
export function urlPasswords(text: string): readonly string[] {
  const passwords: string[] = [];
  for (const match of text.matchAll(/[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*:([^\s/@]+)@/gi)) {
    const password = match[1] ?? '';
    if (!isSecretValue(password)) continue;
    passwords.push(password);
    try {
      passwords.push(decodeURIComponent(password));
    } catch {
      // Not percent-encoded after all.
    }
  }
  return passwords;
}
