import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto';

/**
 * Secrets made anew in every run, put together from parts: the repository must hold nothing that
 * looks like one.
 */

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';

export function randomText(length: number, alphabet = LETTERS + DIGITS): string {
  let text = '';
  while (text.length < length) text += alphabet[randomInt(alphabet.length)];
  return text;
}

/** Letters and digits, at least one of each. */
export function randomSecret(length = 24): string {
  return `${randomText(2, LETTERS)}${randomText(2, DIGITS)}${randomText(length - 4)}`;
}

export const upperSecret = (length: number): string =>
  randomText(length, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567');

export function jwt(): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return [
    part({ alg: 'HS256', typ: 'JWT' }),
    part({ sub: randomSecret(12), iat: 1_700_000_000 }),
    randomBytes(32).toString('base64url'),
  ].join('.');
}

export function privateKey(): string {
  const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export function rsaKey(): string {
  const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  return key.export({ type: 'pkcs1', format: 'pem' }).toString();
}

export interface Planted {
  /** What must not be found. */
  readonly secret: string;
  /** The line or lines in which it stands. */
  readonly text: string;
}

/** One secret per realistic form. */
export const FORMS: Readonly<Record<string, () => Planted>> = {
  'classic GitHub token': () => bare(`${['gh', 'p_'].join('')}${randomSecret(36)}`),
  'fine-grained GitHub token': () => bare(`${['github', '_pat_'].join('')}${randomSecret(82)}`),
  'GitLab token': () => bare(`${['glp', 'at-'].join('')}${randomSecret(20)}`),
  'AWS access key id': () => bare(`${['AK', 'IA'].join('')}${upperSecret(16)}`),
  'AWS secret key': () =>
    named((secret) => `AWS_SECRET_ACCESS_KEY=${secret}`, randomBytes(30).toString('base64')),
  'npm token': () => bare(`${['np', 'm_'].join('')}${randomSecret(36)}`),
  'npm configuration': () =>
    named((secret) => `//registry.example.com/:_authToken=${secret}`, randomSecret(36)),
  'Slack token': () =>
    bare(`${['xo', 'xb-'].join('')}${randomText(12, DIGITS)}-${randomSecret(24)}`),
  'Stripe key': () => bare(`${['sk', '_live_'].join('')}${randomSecret(24)}`),
  'Google key': () => bare(`${['AI', 'za'].join('')}${randomSecret(35)}`),
  'Google key of letters alone': () => bare(`${['AI', 'za'].join('')}Sy${randomText(33, LETTERS)}`),
  'Google key that counts': () =>
    bare(`${['AI', 'za'].join('')}SyA-abcdefgh_${randomText(22, LETTERS)}`),
  'Google key in an address': () =>
    named(
      (secret) => `GET https://maps.example.com/?key=${secret}&zoom=1`,
      `${['AI', 'za'].join('')}Sy${randomText(33, LETTERS)}`,
    ),
  'Google key after an escaped line break': () =>
    named(
      (secret) => `"first\\n${secret}"`,
      `${['AI', 'za'].join('')}Sy${randomText(33, LETTERS)}`,
    ),
  'Hugging Face token': () => bare(`${['h', 'f_'].join('')}${randomSecret(34)}`),
  'Hugging Face token of letters alone': () =>
    bare(`${['h', 'f_'].join('')}${randomText(6, LETTERS.slice(0, 26))}${randomText(28, LETTERS)}`),
  'OpenAI-like key': () => bare(`${['s', 'k-'].join('')}${randomSecret(48)}`),
  'SendGrid key': () => bare(`${['S', 'G.'].join('')}${randomSecret(22)}.${randomSecret(43)}`),
  'JSON Web Token': () => bare(jwt()),
  'https URL with a password': () =>
    named((secret) => `https://bot:${secret}@git.example.com/team/app.git`, randomSecret(20)),
  'https URL with a token': () =>
    named((secret) => `https://${secret}@git.example.com/team/app.git`, randomSecret(40)),
  'URL with an @ in the password': () =>
    named(
      (secret) => `amqp://bot:${secret}@mq.example.com/v`,
      `${randomSecret(8)}@${randomSecret(8)}`,
    ),
  'URL with a slash in the password': () =>
    named(
      (secret) => `amqp://bot:${secret}@mq.example.com/v`,
      `${randomSecret(8)}/${randomSecret(8)}`,
    ),
  'Docker configuration': () =>
    named(
      (secret) => `{"auths":{"docker.example.com":{"auth":"${secret}"}}}`,
      Buffer.from(`bot:${randomSecret(12)}`).toString('base64'),
    ),
  'option of a command': () =>
    named((secret) => `app --api-key=${secret} --verbose`, randomSecret(20)),
  cookie: () => named((secret) => `Cookie: session=${secret}; theme=dark`, randomSecret(32)),
  'PostgreSQL URL': () =>
    named((secret) => `postgres://app:${secret}@db:5432/app?sslmode=require`, randomSecret(16)),
  'MongoDB URL': () =>
    named((secret) => `mongodb+srv://app:${secret}@cluster0.example.net/app`, randomSecret(16)),
  'Redis URL without a user': () =>
    named((secret) => `redis://:${secret}@cache:6379/0`, randomSecret(16)),
  'ADO connection string': () =>
    named((secret) => `Server=db;User Id=sa;Password=${secret};Encrypt=true`, randomSecret(14)),
  'basic authorization header': () => {
    const secret = Buffer.from(`bot:${randomSecret(16)}`).toString('base64');
    return { secret, text: `Authorization: Basic ${secret}` };
  },
  'bearer authorization in code': () =>
    named((secret) => `headers = {"Authorization": "Bearer ${secret}"}`, randomSecret(32)),
  'curl with a password': () =>
    named((secret) => `curl -u bot:${secret} https://api.example.com`, randomSecret(14)),
  netrc: () =>
    named((secret) => `machine api.example.com login bot password ${secret}`, randomSecret(14)),
  'netrc on several lines': () =>
    named(
      (secret) => `machine api.example.com\n  login bot\n  password ${secret}`,
      randomSecret(14),
    ),
  'a line of a netrc, found by grep': () =>
    named((secret) => `home/.netrc:3:  password ${secret}`, randomSecret(14)),
  'message with a quoted password': () =>
    named((secret) => `login failed for password '${secret}' (401)`, randomSecret(16)),
  pgpass: () => named((secret) => `db.example.com:5432:app:bot:${secret}`, randomSecret(14)),
  '.env line': () => named((secret) => `DATABASE_PASSWORD=${secret}`, randomSecret(10)),
  '.env line in quotes': () => named((secret) => `API_TOKEN="${secret}"`, randomSecret(16)),
  'Python assignment': () => named((secret) => `api_key = "${secret}"`, randomSecret(24)),
  'JavaScript property': () => named((secret) => `  clientSecret: '${secret}',`, randomSecret(24)),
  JSON: () => named((secret) => `{"access_token": "${secret}", "n": 1}`, randomSecret(24)),
  'JSON in a string': () => named((secret) => `"{\\"apiKey\\":\\"${secret}\\"}"`, randomSecret(24)),
  YAML: () => named((secret) => `  db_password: ${secret}`, randomSecret(16)),
  'header by name': () => named((secret) => `X-Api-Key: ${secret}`, randomSecret(32)),
  'query string': () =>
    named((secret) => `GET /v1/items?access_token=${secret}&page=2`, randomSecret(24)),
  'exception message': () =>
    named((secret) => `ValueError: bad credentials (password='${secret}')`, randomSecret(16)),
};

export function bare(secret: string): Planted {
  return { secret, text: `value is ${secret} here` };
}

function named(write: (secret: string) => string, secret: string): Planted {
  return { secret, text: write(secret) };
}
