import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { findEndpoints } from '../../../../../src/core/sandbox/docker/endpoints.ts';

const files =
  (contents: Readonly<Record<string, string>>) =>
  (path: string): Buffer => {
    const text = contents[path];
    if (text === undefined) {
      const message = `ENOENT: no such file or directory, open '${path}'`;
      throw Object.assign(new Error(message), { code: 'ENOENT' });
    }
    if (text === 'closed') {
      const message = `EACCES: permission denied, open '${path}'`;
      throw Object.assign(new Error(message), { code: 'EACCES' });
    }
    return Buffer.from(text);
  };

const find = (
  variables: Readonly<Record<string, string>>,
  contents: Readonly<Record<string, string>> = {},
) => findEndpoints(variables, '/home/ada', files(contents));

const addresses = (variables: Readonly<Record<string, string>>, contents = {}): string[] => {
  const found = find(variables, contents);
  if (found.kind === 'problem') throw new Error(found.reason);
  return found.endpoints.map(({ address }) => address);
};

const id = createHash('sha256').update('box').digest('hex');
const context = (host: string): Readonly<Record<string, string>> => ({
  '/home/ada/.docker/config.json': '{"auths":{},"currentContext":"box"}',
  [`/home/ada/.docker/contexts/meta/${id}/meta.json`]: JSON.stringify({
    Name: 'box',
    Endpoints: { docker: { Host: host, SkipTLSVerify: false } },
  }),
});

describe('where a container engine is looked for', () => {
  test('the usual sockets, Docker before Podman', () => {
    expect(addresses({ XDG_RUNTIME_DIR: '/run/user/1000' })).toEqual([
      'unix:///var/run/docker.sock',
      'unix:///run/user/1000/docker.sock',
      'unix:///home/ada/.docker/run/docker.sock',
      'unix:///run/user/1000/podman/podman.sock',
      'unix:///run/podman/podman.sock',
    ]);
    expect(addresses({})).toHaveLength(3);
  });

  test('DOCKER_HOST alone, when it is set', () => {
    expect(addresses({ DOCKER_HOST: 'unix:///x/y.sock' })).toEqual(['unix:///x/y.sock']);
    expect(addresses({ DOCKER_HOST: 'tcp://box' })).toEqual(['tcp://box:2375']);
    expect(addresses({ DOCKER_HOST: 'box:1234' })).toEqual(['tcp://box:1234']);
    expect(find({ DOCKER_HOST: 'tcp://[::1]:1234' })).toMatchObject({
      endpoints: [{ at: { kind: 'tcp', host: '::1', port: 1234, tls: undefined } }],
    });
  });

  test('with certificates, by DOCKER_TLS_VERIFY', () => {
    const pem = { '/c/ca.pem': 'ca', '/c/cert.pem': 'cert', '/c/key.pem': 'key' };
    const variables = { DOCKER_HOST: 'tcp://box', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/c' };
    expect(find(variables, pem)).toMatchObject({
      endpoints: [
        {
          address: 'tcp://box:2376',
          at: {
            tls: { ca: Buffer.from('ca'), cert: Buffer.from('cert'), key: Buffer.from('key') },
          },
        },
      ],
    });
    // As the docker command does it: without the variable the path has no effect.
    expect(find({ DOCKER_HOST: 'tcp://box', DOCKER_CERT_PATH: '/c' }, pem)).toMatchObject({
      endpoints: [{ at: { tls: undefined } }],
    });
    expect(find({ DOCKER_HOST: 'tcp://box', DOCKER_TLS_VERIFY: '1' })).toEqual({
      kind: 'problem',
      reason:
        "The certificates for tcp://box cannot be read: ENOENT: no such file or directory, open '/home/ada/.docker/ca.pem'",
      remedy: 'Set DOCKER_CERT_PATH to the folder with ca.pem, cert.pem and key.pem.',
    });
  });

  test('a certificate without its key, or a key that others may not read, is said', () => {
    const variables = { DOCKER_HOST: 'tcp://box', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/c' };
    const reason = (contents: Readonly<Record<string, string>>): unknown =>
      find(variables, { '/c/ca.pem': 'ca', ...contents });
    expect(reason({ '/c/cert.pem': 'cert' })).toMatchObject({
      kind: 'problem',
      reason: 'The certificates for tcp://box cannot be read: /c has cert.pem and no key.pem',
    });
    expect(reason({ '/c/key.pem': 'key' })).toMatchObject({
      reason: 'The certificates for tcp://box cannot be read: /c has key.pem and no cert.pem',
    });
    expect(reason({ '/c/cert.pem': 'cert', '/c/key.pem': 'closed' })).toMatchObject({
      reason:
        "The certificates for tcp://box cannot be read: EACCES: permission denied, open '/c/key.pem'",
    });
    expect(reason({})).toMatchObject({ kind: 'endpoints' });
  });

  test('the current context of the docker command', () => {
    expect(addresses({}, context('unix:///colima/docker.sock'))).toEqual([
      'unix:///colima/docker.sock',
    ]);
    expect(addresses({ DOCKER_CONTEXT: 'default' }, context('unix:///x'))).toHaveLength(3);
    expect(addresses({ DOCKER_HOST: 'unix:///y' }, context('unix:///x'))).toEqual(['unix:///y']);
    const tls = `/home/ada/.docker/contexts/tls/${id}/docker/ca.pem`;
    expect(find({}, { ...context('tcp://box:2376'), [tls]: 'ca' })).toMatchObject({
      endpoints: [{ at: { host: 'box', tls: { ca: Buffer.from('ca'), cert: undefined } } }],
    });
  });

  test.each([
    [
      { DOCKER_HOST: 'ssh://me@box' },
      /^DOCKER_HOST names ssh:\/\/me@box, and connections over ssh/,
    ],
    [{ DOCKER_HOST: 'bogus://' }, /^DOCKER_HOST is not understood: bogus:\/\/$/],
    [{ DOCKER_HOST: 'https://box' }, /no certificates are given$/],
    [
      { DOCKER_CONTEXT: 'gone' },
      /^The docker context "gone" was not found in \/home\/ada\/.docker$/,
    ],
  ])('%j is explained', (variables, reason) => {
    expect(find(variables as Record<string, string>)).toMatchObject({
      kind: 'problem',
      reason: expect.stringMatching(reason),
      remedy: expect.stringMatching(/./),
    });
  });
});
