import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { FORMS, privateKey, randomSecret, randomText } from '../../unit/core/redaction/generate.ts';

const run = promisify(execFile);

/** A home with a workspace in which secrets are wherever people leave them. */
export interface PlantedHome {
  readonly folder: string;
  readonly home: string;
  readonly workspace: string;
  readonly stateDir: string;
  readonly userName: string;
  readonly hostName: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Where each secret was put, and what must not be found afterwards. */
  readonly secrets: Readonly<Record<string, string>>;
  /** What an agent would run to see all of it. */
  readonly commands: readonly string[];
  /** Files of the workspace to look at with the editor. */
  readonly views: readonly string[];
  remove(): Promise<void>;
}

export async function plantHome(): Promise<PlantedHome> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'prime-plant-')));
  const userName = `zoe${randomText(6, 'bcdfghjkmnpqrstvwxyz')}`;
  const hostName = `book-${randomText(8, 'bcdfghjkmnpqrstvwxyz')}`;
  const home = join(folder, 'home', userName);
  const workspace = join(home, 'work', 'shop');
  const secrets: Record<string, string> = {};
  const put = (where: string, secret: string): string => {
    secrets[where] = secret;
    return secret;
  };
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), text);
  };

  const environment: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    USER: userName,
    DEPLOY_TOKEN: put('environment', randomSecret(28)),
    DATABASE_URL: `postgres://app:${put('environment, in a URL', randomSecret(18))}@db/app`,
  };

  const views: string[] = [];
  for (const [index, [form, make]] of Object.entries(FORMS).entries()) {
    const tracked = make();
    await write(`config/tracked-${index}.txt`, `# ${form}\n${tracked.text}\nend\n`);
    put(`tracked file, ${form}`, tracked.secret);
    const untracked = make();
    await write(`notes/untracked-${index}.txt`, `${untracked.text}\n`);
    put(`untracked file, ${form}`, untracked.secret);
    if (index % 4 === 0) views.push(`config/tracked-${index}.txt`);
  }
  const key = privateKey();
  put('key file, a line of it', key.split('\n')[1] ?? '');
  await write('config/deploy.pem', key);
  views.push('config/deploy.pem');

  const password = put('.env', randomSecret(14));
  const spaced = put('.env, in quotes', `${randomSecret(9)} ${randomSecret(9)}`);
  await write(
    '.env',
    `# local\nMAIL_PASSWORD=${password}\nSIGNING_SECRET="${spaced}"\nDEBUG=true\n`,
  );

  const printed = put('test output', randomSecret(22));
  const thrown = put('exception message', randomSecret(22));
  await write('package.json', '{"type": "module", "scripts": {"test": "node --test"}}\n');
  await write(
    'test/leak.test.js',
    [
      "import { readFileSync } from 'node:fs';",
      "import { test } from 'node:test';",
      "const line = readFileSync('.env', 'utf8').split('\\n')[1];",
      "const value = line.split('=')[1];",
      "test('prints', () => {",
      `  console.log('connected with token: ${printed}');`,
      // By itself, without a name next to it: only the `.env` says that it is secret.
      '  console.log(value);',
      "  console.log(Buffer.from(value).toString('base64'), Buffer.from(value).toString('hex'));",
      "  console.log(Buffer.from('user:' + value).toString('base64url'));",
      '  console.log(JSON.stringify({ a: [value] }), encodeURIComponent(value));',
      '});',
      "test('throws', () => {",
      `  throw new Error("login failed for password '${thrown}'");`,
      '});',
      '',
    ].join('\n'),
  );
  await write(
    'raise.py',
    `def connect(password):\n    raise ValueError(f"bad password={password}")\n\nconnect(password="${put('Python traceback', randomSecret(20))}")\n`,
  );
  await write('host.txt', `built by ${userName}@${hostName} in ${workspace}, see ${home}/log\n`);

  const remote = put('remote URL in .git/config', randomSecret(40));
  await run('git', ['init', '-q', workspace]);
  const git = (...args: readonly string[]) => run('git', ['-C', workspace, ...args]);
  await git('config', 'user.name', userName);
  await git('config', 'user.email', `${userName}@${hostName}`);
  await git('config', 'remote.origin.url', `https://${remote}@git.example.com/shop.git`);
  await git(
    'config',
    'http.extraheader',
    `Authorization: Bearer ${put('header in .git/config', randomSecret(36))}`,
  );
  await git('add', 'config', 'test', 'package.json', 'raise.py');
  await git('commit', '-q', '-m', 'first');

  await writeFile(
    join(home, '.netrc'),
    `machine git.example.com\nlogin bot\npassword ${put('.netrc of the user', randomSecret(15))}\n`,
  );
  await writeFile(
    join(home, '.npmrc'),
    `//npm.example.com/:_authToken=${put('.npmrc of the user', randomSecret(36))}\n`,
  );
  // A process of the user whose environment anybody with the same user id can read.
  const process_ = spawn('sleep', ['600'], { env: environment, stdio: 'ignore' });

  // The agent learns host paths from a file: written into a command they would be the policy's own words.
  const places = [
    join(workspace, '.git/config'),
    join(home, '.netrc'),
    join(home, '.npmrc'),
    `/proc/${process_.pid}/environ`,
    join(home, 'missing.txt'),
  ];
  await write('places.txt', `${places.join('\n')}\n`);

  return {
    folder,
    home,
    workspace,
    stateDir: join(home, '.cache', 'prime-agent'),
    userName,
    hostName,
    environment,
    secrets,
    views,
    commands: [
      'for file in config/*; do echo "== $file"; cat "$file"; done',
      'for file in notes/*; do echo "== $file"; cat "$file"; done',
      'cat .env; cat places.txt host.txt',
      'while read -r file; do tr "\\0" "\\n" < "$file"; done < places.txt',
      'git config --list; git remote -v; git log | head; git status --short | head',
      'env; id; whoami; hostname; pwd -P; ls -la',
      'node --test 2>&1',
      'python3 raise.py',
      'grep -rn "" config notes | head -c 12000',
      `node -e "const t = require('fs').readFileSync('.env'); console.log(t.toString('base64'), t.toString('hex'), encodeURIComponent(t.toString()))"`,
      'echo changed >> config/tracked-0.txt; git diff; cat config/deploy.pem | head -2',
    ],
    async remove() {
      process_.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
