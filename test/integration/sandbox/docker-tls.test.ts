import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import { createAuthority } from '../../support/certificates.ts';
import { startTestEngine, TEST_IMAGE } from '../../support/docker-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { shell } from './conformance.ts';
import { createFixture, type Fixture } from './fixture.ts';

/** An engine that listens with TLS on loopback, and knows its clients by their certificates. */
const folder = mkdtempSync(join(tmpdir(), 'prime-tls-'));
const started = await start();

async function start() {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
  } catch {
    return { kind: 'none', reason: 'openssl is not installed' } as const;
  }
  const authority = createAuthority(folder, 'own');
  const server = authority.issue('server', { for: 'server', names: 'IP:127.0.0.1' });
  const ports = [await freePort(), await freePort()] as const;
  const engine = await startTestEngine({
    image: 'small',
    more: [
      ...['--host', `tcp://127.0.0.1:${ports[0]}`, '--tlsverify', '--tlscacert', authority.ca],
      ...['--tlscert', join(server, 'cert.pem'), '--tlskey', join(server, 'key.pem')],
    ],
  });
  return engine.kind === 'none' ? engine : { ...engine, authority, ports };
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

if (started.kind === 'none') {
  test('an engine is used over TLS', ({ skip }) => {
    skip(`not run: ${started.reason}`);
  });
} else {
  const { engine, authority, ports } = started;
  const host = `tcp://127.0.0.1:${ports[0]}`;
  const provider = (certificates: string | undefined, at = host) =>
    createDockerSandbox({
      image: TEST_IMAGE,
      variables: {
        DOCKER_HOST: at,
        ...(certificates !== undefined && {
          DOCKER_TLS_VERIFY: '1',
          DOCKER_CERT_PATH: certificates,
        }),
      },
      home: folder,
    });
  /** A folder of parts of others. */
  const mixed = (name: string, files: Readonly<Record<string, string>>): string => {
    const place = join(folder, name);
    mkdirSync(place);
    for (const [file, from] of Object.entries(files)) copyFileSync(from, join(place, file));
    return place;
  };
  let fixture: Fixture;
  let client: string;
  beforeAll(() => {
    fixture = createFixture();
    client = authority.issue('client');
  });
  afterAll(async () => {
    fixture.remove();
    await engine.remove();
  });

  describe('an engine over TLS', () => {
    test('a session, with dependencies that are sent', async () => {
      const session = await provider(client).open(fixture.spec);
      try {
        expect((await shell(session, 'cat a.txt node_modules/dep/index.js')).text).toBe(
          'a\nmodule.exports = 42;\n',
        );
        const output = await shell(session, 'head -c 3000000 /dev/zero | tr "\\0" x', {
          maxOutputBytes: 4_000_000,
        });
        expect(output.text).toHaveLength(3_000_000);
        // Sent, not mounted: an engine elsewhere does not see files of this machine.
        expect((await shell(session, 'touch node_modules/dep/new && echo own')).text).toBe('own\n');
      } finally {
        await session.close();
      }
      expect(engine.docker('ps', '-aq')).toBe('');
      expect(engine.docker('volume', 'ls', '-q')).toBe('');
    });

    test('what it is called', async () => {
      expect(await provider(client).availability()).toMatchObject({
        available: true,
        detail: expect.stringContaining(`at ${host}, image ${TEST_IMAGE}`),
      });
    });

    const refused = async (certificates: string | undefined, at = host): Promise<string> => {
      const state = await provider(certificates, at).availability();
      if (state.available) throw new Error('it was available');
      expect(state.remedy).toContain('DOCKER_CERT_PATH');
      const start = `No secure connection to the container engine at ${at}: `;
      expect(state.reason.slice(0, start.length)).toBe(start);
      return state.reason.slice(start.length);
    };
    const notAccepted =
      'it does not accept this client’s certificate (cert.pem is missing, expired, or not from its authority)';
    const notFromCa = 'its certificate is not from the authority in ca.pem';
    const other = createAuthority(folder, 'other');

    test('an engine that another authority vouches for', async () => {
      const place = mixed('other-ca', {
        'ca.pem': other.ca,
        'cert.pem': join(client, 'cert.pem'),
        'key.pem': join(client, 'key.pem'),
      });
      expect(await refused(place)).toBe(notFromCa);
    });

    test('no certificate of one’s own', async () => {
      expect(await refused(mixed('none', { 'ca.pem': authority.ca }))).toBe(notAccepted);
    });

    test('a certificate of somebody else’s', async () => {
      const foreign = other.issue('client');
      copyFileSync(authority.ca, join(foreign, 'ca.pem'));
      expect(await refused(foreign)).toBe(notAccepted);
    });

    test('an expired certificate of one’s own', async () => {
      expect(await refused(authority.issue('expired', { days: -1 }))).toBe(notAccepted);
    });

    test('a key that belongs to another certificate', async () => {
      const place = mixed('key', {
        'ca.pem': authority.ca,
        'cert.pem': join(client, 'cert.pem'),
        'key.pem': join(authority.issue('second'), 'key.pem'),
      });
      expect(await refused(place)).toBe('key.pem does not belong to cert.pem');
    });

    test('a server certificate that has expired', async () => {
      const old = authority.issue('old', { for: 'server', names: 'IP:127.0.0.1', days: -1 });
      const server = createTlsServer({
        cert: readFileSync(join(old, 'cert.pem')),
        key: readFileSync(join(old, 'key.pem')),
      });
      await new Promise<void>((resolve) => server.listen(ports[1], '127.0.0.1', resolve));
      try {
        expect(await refused(client, `tcp://127.0.0.1:${ports[1]}`)).toBe(
          'its certificate has expired',
        );
      } finally {
        server.close();
      }
    });

    test('files that are no certificates', async () => {
      const none = import.meta.filename;
      expect(await refused(mixed('broken-ca', { 'ca.pem': none }))).toBe(notFromCa);
      const own = { 'ca.pem': authority.ca, 'cert.pem': none, 'key.pem': none };
      expect(await refused(mixed('broken', own))).toBe(
        'cert.pem or key.pem is not a certificate or key in PEM',
      );
    });

    test('another name than the one of the certificate', async () => {
      expect(await refused(client, `tcp://localhost:${ports[0]}`)).toBe(
        'its certificate is for another name',
      );
    });

    test('without TLS, where the engine speaks nothing else', async () => {
      expect(await refused(undefined)).toBe(
        'it speaks nothing but TLS at that port, and DOCKER_TLS_VERIFY is not set',
      );
    });

    test('with TLS, where nobody speaks it', async () => {
      const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      await new Promise<void>((resolve) => server.listen(ports[1], '127.0.0.1', resolve));
      try {
        expect(await refused(client, `tcp://127.0.0.1:${ports[1]}`)).toBe(
          'it does not speak TLS at that port',
        );
      } finally {
        server.close();
      }
    });
  });
}
