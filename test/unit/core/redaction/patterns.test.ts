import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../../../src/core/redaction/redactor.ts';
import { FORMS, privateKey, randomSecret, rsaKey } from './generate.ts';

const redactor = createRedactor({});

describe('secrets by their form', () => {
  test.each(Object.entries(FORMS))('%s is redacted, its surroundings stay', async (_, make) => {
    for (let round = 0; round < 20; round++) {
      const { secret, text } = make();
      const whole = `before\n${text}\nafter`;
      const redacted = await redactor.redact(whole);
      expect(redacted, whole).not.toContain(secret);
      expect(redacted).toMatch(/\[redacted:[a-z0-9-]+\]/);
      expect(redacted.split('\n').length).toBe(whole.split('\n').length);
      expect(redacted.startsWith('before\n')).toBe(true);
      expect(redacted.endsWith('\nafter')).toBe(true);
      expect(await redactor.redact(redacted)).toBe(redacted);
      expect(await redactor.holdsSecret(whole)).toBe(true);
      expect(await redactor.holdsSecret(redacted)).toBe(false);
    }
  });

  test.each(Object.entries(FORMS))(
    '%s is redacted in a numbered view and a diff',
    async (_, make) => {
      const { secret, text } = make();
      const view = text
        .split('\n')
        .map((line, index) => `${String(index + 1).padStart(6)}\t${line}`)
        .join('\n');
      const diff = text
        .split('\n')
        .map((line) => `+${line}`)
        .join('\n');
      expect(await redactor.redact(view), view).not.toContain(secret);
      expect(await redactor.redact(diff), diff).not.toContain(secret);
    },
  );

  test('only the secret part of a URL goes', async () => {
    const secret = randomSecret(16);
    expect(await redactor.redact(`postgres://app:${secret}@db:5432/app`)).toBe(
      'postgres://app:[redacted:url-password]@db:5432/app',
    );
  });
});

describe('private keys', () => {
  const keys = { 'an EC key': privateKey(), 'an RSA key': rsaKey() };

  test.each(Object.entries(keys))('%s goes line by line', async (_, key) => {
    const text = `before\n${key}after\n`;
    const redacted = await redactor.redact(text);
    expect(redacted.split('\n').length).toBe(text.split('\n').length);
    expectNoKey(redacted, key);
    expect(redacted).toMatch(/^before\n(\[redacted:private-key\]\n)+after\n$/);
  });

  test.each(Object.entries(keys))('%s goes in views, greps, diffs and JSON', async (_, key) => {
    const lines = key.trimEnd().split('\n');
    const shown = {
      view: lines.map((line, index) => `${String(index + 1).padStart(6)}\t${line}`).join('\n'),
      grep: lines.map((line, index) => `deploy.pem:${index + 1}:${line}`).join('\n'),
      diff: lines.map((line) => `-${line}`).join('\n'),
      json: JSON.stringify({ private_key: key, after: 1 }),
    };
    for (const [name, text] of Object.entries(shown)) {
      const redacted = await redactor.redact(text);
      expectNoKey(redacted, key, name);
      expect(redacted.split('\n').length, name).toBe(text.split('\n').length);
      expect(await redactor.redact(redacted), name).toBe(redacted);
    }
    expect(await redactor.redact(shown.json)).toContain('"after":1');
    expect(await redactor.redact(shown.view)).toMatch(/^ {5}1\t\[redacted:private-key\]\n {5}2\t/);
  });

  test('a program that reads keys stays as it is', async () => {
    const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} RSA PRIVATE KEY-----`);
    const text = `if line == '${begin}':\n    inside = True\nelif line == '${end}':\n    inside = False\n`;
    expect(await redactor.redact(text)).toBe(text);
    expect(await redactor.redact(`${begin}\n(key)\n${end}`)).toBe(`${begin}\n(key)\n${end}`);
  });

  test.each(Object.entries(keys))('%s goes out of string literals', async (_, key) => {
    const lines = key.trimEnd().split('\n');
    const literal = `KEY = (\n${lines.map((line) => `    b"${line}\\n"`).join('\n')}\n)\n`;
    const joined = `const key =\n${lines.map((line) => `  '${line}\\n' +`).join('\n')}\n  '';\n`;
    for (const text of [literal, joined]) expectNoKey(await redactor.redact(text), key, text);
  });

  test('a key whose end or beginning was cut away goes as well', async () => {
    const lines = rsaKey().trimEnd().split('\n');
    const head = `$ cat key\n${lines.slice(0, 6).join('\n')}\n[… 400 bytes left out …]\n`;
    const tail = `[… 400 bytes left out …]\n${lines.slice(-5).join('\n')}\ndone`;
    for (const text of [head, tail]) {
      const redacted = await redactor.redact(text);
      for (const line of lines.filter((item) => item.length > 20)) {
        expect(redacted).not.toContain(line);
      }
      expect(redacted).toContain('[… 400 bytes left out …]');
    }
    expect(await redactor.redact(tail)).toMatch(/\ndone$/);
  });
});

function expectNoKey(text: string, key: string, name = ''): void {
  for (const line of key.split('\n').filter((item) => item.length >= 16)) {
    expect(text, name).not.toContain(line);
  }
}

describe('code that must stay readable', () => {
  test.each([
    'const token = getToken();',
    'const token = tokens[index + 1];',
    "password = request.form['password']",
    'assert user.check_password("secret")',
    "expect(login('ann', 'password123')).toBe(true);",
    'api_key = os.environ["API_KEY"]',
    'const apiKey = process.env.OPENAI_API_KEY ?? "";',
    'TOKEN=$(cat token.txt)',
    `API_KEY=\${API_KEY:-}`,
    'SECRET_KEY=changeme',
    '"key": "item-1234",',
    'primary_key: "customer_address_0001",',
    'cache_key = "user_profile_page_v2"',
    'MAX_TOKENS=100000',
    'const KEYS = ["ArrowUp", "ArrowDown"];',
    'PWD=/workspace/src',
    'https://example.com:8080/path@2x.png',
    'import { x } from "@scope/name";',
    'git@github.com:team/app.git',
    'ssh://git@github.com/team/app.git',
    "sort(key=lambda item: item['name2'])",
    'function authenticate(token: string): boolean {',
    'Authorization: Bearer <token>',
    `headers['Authorization'] = \`Bearer \${token}\`;`,
    'sha512-abcdefgh is not a key name',
    '"integrity": "sha512-9tK3GCzM0Z2l0tXKm2gOaXKcaGgYw4v7qXn0bTfTzGm4nb0XwQ=="',
    'commit 3f786850e387550fdab836ed7e6dc881de23001b',
    'author: Jane Doe <jane@example.com>',
    'docker run -u 1000:1000 image',
    'test/auth.test.js:12:34: expected token but found "}"',
    'secret: z.string().min(12).max(64),',
    'SPDX-License-Identifier: BSD-3-Clause',
    'from models import hf_TransformerForSequenceClassification',
    "GOOGLE_EXAMPLE = 'AIzaxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'",
    'checkIssued(otherCert: X509Certificate): boolean;',
    "onError(keyNode.range, 'KEY_OVER_1024_CHARS', message);",
    'mongodb://username:password@host:1234/db',
    "new URL('https://abc:xyz@example.com')",
    "longopt_pat = r'[a-zA-Z](?:[a-zA-Z0-9-]*)'",
    'capabilities = "LOGINDISABLED AUTH=CRAM-MD5"',
    'Set-Cookie: PART_NUMBER=RIDING_ROCKET_0023; path=/ammo',
    'machine host.example.com login log password pass account acct',
    "('http://[dead:beef:cafe:5417:affe:8FA3:deaf:feed]:5432/foo/',",
    'http://localhost:8080/@scope/name',
    '"auth": "required-scope"',
    'type Token = { kind: "identifier"; value: string };',
  ])('%s', async (line) => {
    expect(await redactor.redact(line)).toBe(line);
    expect(await redactor.holdsSecret(line)).toBe(false);
  });

  test('a comment cannot switch the rules off', async () => {
    const planted = FORMS['classic GitHub token']?.();
    const text = `// ${['secretlint', 'disable'].join('-')}\n${planted?.text}`;
    expect(await redactor.redact(text)).not.toContain(planted?.secret);
  });
});

describe('properties', () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.constantFrom(...Object.values(FORMS)).map((make) => make().text),
    fc.constantFrom(
      '\n',
      ' ',
      '"',
      "'",
      '=',
      ': ',
      '://',
      '@',
      'token=',
      'password: ',
      '[redacted:',
      'x]',
    ),
  );
  const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

  test('redacting twice is redacting once, and lines stay', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const once = await redactor.redact(text);
        expect(await redactor.redact(once)).toBe(once);
        expect(await redactor.holdsSecret(once)).toBe(false);
        expect(once.split('\n').length).toBe(text.split('\n').length);
      }),
      { numRuns: 300 },
    );
  });

  test('texts at once do not mix', async () => {
    const planted = Array.from({ length: 20 }, () => FORMS['npm token']?.());
    const redacted = await Promise.all(planted.map((item) => redactor.redact(item?.text ?? '')));
    expect(new Set(redacted)).toEqual(new Set(['value is [redacted:npm] here']));
  });

  test.each([
    ['spaces', ' '.repeat(200_000)],
    ['one word', 'a'.repeat(200_000)],
    ['names', 'KEY='.repeat(50_000)],
    ['URL beginnings', 'https://a:'.repeat(20_000)],
    ['key beginnings', `${['-----BEGIN', 'PRIVATE KEY-----'].join(' ')}\n`.repeat(6_000)],
    ['quotes', 'token="'.repeat(30_000)],
    ['dots', 'eyJ.'.repeat(50_000)],
  ])('200 kB of %s take no more than seconds', async (_, text) => {
    const began = performance.now();
    await redactor.redact(text);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
