import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../src/editor/contract/settings.ts';
import { policyLabel } from '../../../src/editor/policies/choice.ts';
import { createKeys } from '../../../src/editor/policies/keys.ts';
import { createFakeContext, createFakeVs } from '../../support/fake-vs.ts';

describe('settings', () => {
  it('have the defaults of the manifest', () => {
    expect(readSettings(createFakeVs().vs)).toEqual({
      policy: 'edit-search',
      endpoint: { baseUrl: '', model: undefined },
      server: { url: '', fingerprint: '' },
      attempts: undefined,
      parallel: undefined,
      maxTurns: undefined,
      maxMinutes: undefined,
      maxReplyTokens: undefined,
      sandbox: 'auto',
      dockerImage: undefined,
      testCommand: undefined,
      testTimeoutSeconds: 300,
      include: [],
      parity: true,
      codeLens: true,
    });
  });

  it('written with wrong types count as not written', () => {
    const { vs } = createFakeVs({
      settings: {
        'primeAgent.policy': 'gpt',
        'primeAgent.attempts': '3',
        'primeAgent.parallel': 1.5,
        'primeAgent.maxMinutes': -1,
        'primeAgent.sandbox': 'nowhere',
        'primeAgent.dockerImage': ['node'],
        'primeAgent.testTimeout': null,
        'primeAgent.include': ['.env', 3, ''],
        'primeAgent.testCommand': '  ',
      },
    });
    expect(readSettings(vs)).toMatchObject({
      policy: 'edit-search',
      attempts: undefined,
      parallel: undefined,
      maxMinutes: undefined,
      sandbox: 'auto',
      dockerImage: undefined,
      testTimeoutSeconds: 300,
      include: ['.env'],
      testCommand: undefined,
    });
  });
});

describe('the sandbox', () => {
  it.each(['auto', 'local', 'docker', 'none'])('may be %s', (sandbox) => {
    const { vs } = createFakeVs({ settings: { 'primeAgent.sandbox': sandbox } });
    expect(readSettings(vs).sandbox).toBe(sandbox);
  });

  it('takes an image, without the spaces around it', () => {
    const { vs } = createFakeVs({ settings: { 'primeAgent.dockerImage': ' shop/tests:3 ' } });
    expect(readSettings(vs).dockerImage).toBe('shop/tests:3');
  });
});

describe('the name of the policy', () => {
  it.each([
    ['nano', '', undefined, 'nano'],
    ['endpoint', 'http://127.0.0.1:8000/v1', 'qwen', 'qwen at 127.0.0.1:8000'],
    ['endpoint', 'http://127.0.0.1:8000/v1', undefined, '127.0.0.1:8000'],
    ['endpoint', '', undefined, 'no server'],
  ] as const)('%s %s %s: %s', (policy, baseUrl, model, label) => {
    expect(policyLabel(createFakeVs().vs, { policy, endpoint: { baseUrl, model } })).toBe(label);
  });
});

describe('keys', () => {
  it('belong to an origin: other paths of it, but no other host, port or protocol', async () => {
    const { context, secrets } = createFakeContext('/x');
    const keys = createKeys(context.secrets);
    await keys.set('https://api.example.org/v1', 'k1');
    expect(await keys.get('https://api.example.org/other')).toBe('k1');
    for (const address of [
      'http://api.example.org/v1',
      'https://api.example.org:8443/v1',
      'https://api.example.org.evil.test/v1',
      'no address',
    ]) {
      expect(await keys.get(address), address).toBeUndefined();
    }
    expect([...secrets.keys()]).toEqual(['primeAgent.apiKey.https://api.example.org']);
    await keys.delete('https://api.example.org');
    expect(secrets.size).toBe(0);
  });
});
