import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hostRedactor } from '../../../src/core/redaction/host.ts';
import { randomSecret } from '../../unit/core/redaction/generate.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prime-host-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a workspace behind a symbolic link is canonical under both of its paths', async () => {
  const real = join(folder, 'disk', 'projects', 'shop');
  const link = join(folder, 'shop');
  await mkdir(real, { recursive: true });
  await symlink(real, link);
  const redactor = await hostRedactor({ workspacePath: link, files: [], environment: {} });
  expect(await redactor.redact(`${real}/a.js and ${link}/a.js`)).toBe(
    '/workspace/a.js and /workspace/a.js',
  );
});

test('home is this machine’s own, secrets come from the environment and from ignored files', async () => {
  const [known, named] = [randomSecret(20), randomSecret(20)];
  const workspace = join(folder, 'app');
  await mkdir(workspace);
  await writeFile(join(workspace, '.env'), `MAIL_PASSWORD='${named}'\n`);
  await writeFile(join(workspace, '.env.example'), 'MAIL_PASSWORD=not-a-real-one\n');
  const redactor = await hostRedactor({
    workspacePath: workspace,
    files: [],
    environment: { DEPLOY_TOKEN: known },
  });
  expect(await redactor.redact(`${known} ${named} not-a-real-one`)).toBe(
    '[redacted:secret] [redacted:secret] not-a-real-one',
  );
  if (homedir() !== '/') {
    expect(await redactor.redact(`cat ${homedir()}/.npmrc`)).toBe('cat /home/user/.npmrc');
  }
});

test('a workspace that is not there and files that cannot be read are no reason to fail', async () => {
  const redactor = await hostRedactor({
    workspacePath: join(folder, 'missing'),
    files: ['.netrc', 'keys/id_rsa'],
    environment: {},
  });
  expect(await redactor.redact(`${join(folder, 'missing')}/x`)).toBe('/workspace/x');
});
