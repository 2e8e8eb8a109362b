import { describe, expect, test } from 'vitest';
import {
  asSandboxFailure,
  describeEngineError,
  statusOf,
} from '../../../../../src/core/sandbox/docker/problems.ts';
import { SandboxFailure } from '../../../../../src/core/sandbox/sandbox.ts';

const at = 'unix:///var/run/docker.sock';
const error = (message: string, more: object = {}): Error =>
  Object.assign(new Error(message), more);

describe('what an engine says is put into plain words with a remedy', () => {
  test.each([
    [
      error('connect EACCES /var/run/docker.sock', { code: 'EACCES' }),
      `You have no permission to use the container engine at ${at}`,
      /usermod -aG docker/,
    ],
    [
      error('connect ENOENT /var/run/docker.sock', { code: 'ENOENT' }),
      `No container engine answers at ${at}`,
      /systemctl start docker/,
    ],
    [
      error('connect ECONNREFUSED', { code: 'ECONNREFUSED' }),
      `No container engine answers at ${at}`,
      /DOCKER_HOST/,
    ],
    [
      error('getaddrinfo ENOTFOUND box', { code: 'ENOTFOUND' }),
      `The container engine at ${at} cannot be reached (ENOTFOUND)`,
      /Check DOCKER_HOST/,
    ],
    [
      error('no answer within 10 s', { code: 'ETIMEDOUT' }),
      `The container engine at ${at} cannot be reached (ETIMEDOUT)`,
      /Check DOCKER_HOST/,
    ],
    [
      error('(HTTP code 500) server error - write /x: no space left on device ', {
        statusCode: 500,
      }),
      `The disk of the container engine at ${at} is full`,
      /docker system prune/,
    ],
    [
      error('self-signed certificate', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
      `No secure connection to the container engine at ${at}: its certificate is not from the authority in ca.pem`,
      /DOCKER_CERT_PATH/,
    ],
    [
      error('(HTTP code 400) bad parameter - Client sent an HTTP request to an HTTPS server. ', {
        statusCode: 400,
      }),
      `No secure connection to the container engine at ${at}: it speaks nothing but TLS at that port, and DOCKER_TLS_VERIFY is not set`,
      /DOCKER_TLS_VERIFY/,
    ],
    [
      error('socket hang up', { code: 'ECONNRESET' }),
      `The connection to the container engine at ${at} was lost`,
      /restarted/,
    ],
    [
      error('(HTTP code 500) server error - fork/exec runc: cannot allocate memory ', {
        statusCode: 500,
      }),
      `The container engine at ${at} has no memory left: fork/exec runc: cannot allocate memory`,
      /--parallel 1/,
    ],
    [
      error('(HTTP code 500) server error - OCI runtime create failed ', { statusCode: 500 }),
      `The container engine at ${at} refused (500): OCI runtime create failed`,
      /docker info/,
    ],
  ])('%s', (raw, reason, remedy) => {
    const described = describeEngineError(raw, at);
    expect(described.reason).toBe(reason);
    expect(described.remedy).toMatch(remedy);
    const failure = asSandboxFailure(raw, at);
    expect(failure).toBeInstanceOf(SandboxFailure);
    expect(failure).toMatchObject({ message: `${reason}.`, remedy: described.remedy });
  });

  test('what is described already stays as it is', () => {
    const failure = new SandboxFailure('The image has no bash.');
    expect(asSandboxFailure(failure, at)).toBe(failure);
  });

  test('the status of an answer', () => {
    expect(statusOf(error('x', { statusCode: 404 }))).toBe(404);
    expect(statusOf(error('x', { code: 'ENOENT' }))).toBe(0);
    expect(statusOf('x')).toBe(0);
  });
});
