import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { environmentSecrets, isSecretName } from '../../../../src/core/redaction/environment.ts';
import { createRedactor } from '../../../../src/core/redaction/redactor.ts';
import { secretsInConfiguration } from '../../../../src/core/redaction/workspace-secrets.ts';
import { randomSecret, rsaKey } from './generate.ts';

describe('variables of the environment', () => {
  test.each([
    'GITHUB_TOKEN',
    'dbPassword',
    'AWS_SECRET_ACCESS_KEY',
    'apikey',
    'NPM_AUTH',
    'MYTOKEN',
  ])('%s says that its value is secret', (name) => expect(isSecretName(name)).toBe(true));

  test.each([
    'PATH',
    'KEYBOARD',
    'MONKEY',
    'TOKENIZERS_PARALLELISM',
    'EDITOR',
    'COMPASS',
    'AUTHOR',
  ])('%s does not', (name) => expect(isSecretName(name)).toBe(false));

  test('paths, plain addresses, numbers, short and common values are not secrets', () => {
    expect(
      environmentSecrets({
        SSH_AUTH_SOCK: '/run/user/1000/keyring/ssh',
        PWD: '/home/jane/app',
        GOOGLE_APPLICATION_KEY: './key.json',
        AUTH_URL: 'https://auth.example.com/login',
        MAX_TOKENS: '100000',
        SECRET: 'changeme',
        API_TOKEN: 'abc',
        DB_PASSWORD: 'localhost',
        KEY_FILE: undefined,
      }),
    ).toEqual([]);
  });

  test('values of secret names and passwords in URLs are', () => {
    const [token, password] = [randomSecret(20), `${randomSecret(10)}%40x`];
    expect(
      environmentSecrets({ TOKEN: ` ${token}\n`, DATABASE_URL: `postgres://a:${password}@db/x` }),
    ).toEqual([token, password, password.replace('%40', '@')]);
  });
});

describe('known values', () => {
  const encodings: Readonly<Record<string, (value: string) => string>> = {
    'as written': (value) => value,
    base64: (value) => Buffer.from(value).toString('base64'),
    'base64 in a longer text': (value) => Buffer.from(`u:${value}:x`).toString('base64'),
    'base64 after one byte': (value) => Buffer.from(`:${value}`).toString('base64'),
    base64url: (value) => Buffer.from(`user:${value}`).toString('base64url'),
    hexadecimal: (value) => Buffer.from(value).toString('hex'),
    'upper-case hexadecimal': (value) => Buffer.from(value).toString('hex').toUpperCase(),
    'percent-encoded': (value) => encodeURIComponent(value),
    'a form field': (value) => encodeURIComponent(value).replaceAll('%20', '+'),
    'JSON string': (value) => JSON.stringify(value),
  };
  const values = fc.string({ minLength: 12, maxLength: 40, unit: 'grapheme' });

  test.each(Object.entries(encodings))('%s: no trace stays', async (_, encode) => {
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const secret = `${value}${randomBytes(6).toString('hex')}`;
        const redactor = createRedactor({ environment: { SOME_TOKEN: secret } });
        const [known] = environmentSecrets({ SOME_TOKEN: secret });
        fc.pre(known !== undefined);
        const encoded = encode(known ?? '');
        const redacted = await redactor.redact(`x ${encoded} y`);
        // What may stay are a few characters of base64 that other bytes share.
        expect(redacted).toContain('[redacted:');
        expect(redacted.length).toBeLessThan(`x ${encoded} y`.length + 40);
        expect(redacted).not.toContain(encoded.slice(4, -4));
        expect(await redactor.redact(redacted)).toBe(redacted);
      }),
      { numRuns: 60 },
    );
  });

  test('the longest value wins where one is part of another', async () => {
    const short = randomSecret(12);
    const redactor = createRedactor({ extraSecrets: [short, `${short}-${randomSecret(8)}`] });
    expect(await redactor.redact(`${short}`)).toBe('[redacted:secret]');
    const long = createRedactor({ extraSecrets: [short, `${short}-tail1234`] });
    expect(await long.redact(`a ${short}-tail1234 b`)).toBe('a [redacted:secret] b');
  });

  test('a value that reads like a marker changes nothing', async () => {
    const redactor = createRedactor({ environment: { API_TOKEN: 'redacted:secret' } });
    const redacted = await redactor.redact('redacted:secret and redacted:secret');
    expect(redacted).toBe('[redacted:secret] and [redacted:secret]');
    expect(await redactor.redact(redacted)).toBe(redacted);
  });

  test('a value that a cut divided goes on both sides', async () => {
    const secret = randomSecret(30);
    const redactor = createRedactor({ extraSecrets: [secret] });
    const mark = '[… 2,000 bytes left out …]';
    for (const gap of ['', '\n']) {
      const cut = `a ${secret.slice(0, 12)}${gap}${mark}${gap}${secret.slice(-9)} b`;
      expect(await redactor.redact(cut)).toBe(
        `a [redacted:secret]${gap}${mark}${gap}[redacted:secret] b`,
      );
    }
  });

  test('lines from the middle of a known key are found', async () => {
    const key = rsaKey();
    const line = key.split('\n')[4] ?? '';
    const redactor = createRedactor({ extraSecrets: [key] });
    expect(await redactor.redact(`$ sed -n 5p key\n${line}\n`)).toBe(
      '$ sed -n 5p key\n[redacted:secret]\n',
    );
  });
});

test('configuration files name their secrets', () => {
  const [a, b, c, d, e] = Array.from({ length: 5 }, () => randomSecret(18));
  const text = [
    `API_KEY=${a}`,
    `export DB_PASSWORD="${b}"`,
    'DEBUG=true',
    `url = https://${c}@git.example.com/x.git`,
    `machine example.com login bot password ${d}`,
    `{"clientSecret": "${e}"}`,
    'PORT=3000',
  ].join('\n');
  expect([...secretsInConfiguration(text)].sort()).toEqual([a, b, c, d, e].sort());
});
