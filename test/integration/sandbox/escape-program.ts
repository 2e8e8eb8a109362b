/**
 * Runs the attempts of `escape-attempts.ts` in one session of the sandbox that is named (`local`,
 * `docker IMAGE`, or `none` without isolation) and prints the results as JSON. It is bundled and run by
 * `run-escapes.ts`, once as root and once as another user.
 */
import { Buffer } from 'node:buffer';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import { createLocalSandbox } from '../../../src/core/sandbox/local/local.ts';
import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import type { SandboxProvider } from '../../../src/core/sandbox/sandbox.ts';
import { ESCAPE_ATTEMPTS, type HostTargets, PRELUDE } from './escape-attempts.ts';
import { createFixture } from './fixture.ts';

export interface EscapeResults {
  readonly uid: number;
  readonly results: Readonly<Record<string, { readonly escaped: boolean; readonly said: string }>>;
  /** What had changed on the host afterwards. */
  readonly hostChanges: readonly string[];
  readonly connections: number;
}

async function listen(
  server: ReturnType<typeof createServer>,
  where: string | number,
): Promise<void> {
  await new Promise<void>((resolve) => {
    if (typeof where === 'number') server.listen(where, '0.0.0.0', resolve);
    else server.listen(where, resolve);
  });
}

function named(kind: string | undefined, stateDir: string): SandboxProvider {
  switch (kind) {
    case 'none':
      return createNoneSandbox({ stateDir });
    case 'docker':
      return createDockerSandbox({ image: process.argv[3] });
    default:
      return createLocalSandbox({ stateDir });
  }
}

async function main(): Promise<void> {
  const fixture = createFixture();
  const random = Math.random().toString(36).slice(2);
  const secret = `prime-secret-${random}`;
  process.env.PRIME_CANARY = secret;
  let connections = 0;
  const servers = [0, 1, 2].map(() =>
    createServer((socket) => {
      connections++;
      socket.destroy();
    }),
  );
  const [tcp, abstract, path] = servers;
  if (tcp === undefined || abstract === undefined || path === undefined)
    throw new Error('unreachable');
  const home = join(fixture.root, 'home');
  const project = join(home, 'project');
  const other = join(home, 'other');
  mkdirSync(join(home, '.ssh'));
  mkdirSync(other);
  writeFileSync(join(home, '.ssh/id_ed25519'), 'private key\n');
  writeFileSync(join(other, 'file.txt'), 'other\n');
  const shmFile = `/dev/shm/prime-${random}`;
  writeFileSync(shmFile, 'shared\n');
  await listen(tcp, 0);
  await listen(abstract, `\0prime-${random}`);
  await listen(path, join(fixture.root, 'socket'));
  const address = tcp.address();
  const marker = `98${Math.floor(Math.random() * 1e6)}`;
  const hostProcess = spawn('sleep', [marker], { stdio: 'ignore' });
  const targets: HostTargets = {
    otherRepository: other,
    sshKey: join(home, '.ssh/id_ed25519'),
    historyCommit: execFileSync('git', ['-C', project, 'rev-parse', 'HEAD'], {
      encoding: 'utf8',
    }).trim(),
    workspacePath: project,
    base: fixture.spec.base.tree,
    state: join(fixture.root, 'state'),
    dependency: 'node_modules/dep/index.js',
    tcpPort: typeof address === 'object' && address !== null ? address.port : 0,
    abstractSocket: `prime-${random}`,
    pathSocket: join(fixture.root, 'socket'),
    hostPid: hostProcess.pid ?? 0,
    hostMarker: marker,
    secret,
    shmFile,
  };
  const watched = [
    targets.sshKey,
    join(other, 'file.txt'),
    join(fixture.spec.base.tree, 'a.txt'),
    join(project, targets.dependency),
    '/proc/sys/kernel/pid_max',
    '/proc/sys/kernel/core_pattern',
  ];
  const contents = (): string[] => watched.map((file) => readFileSync(file, 'utf8'));
  const before = contents();
  const results: Record<string, { escaped: boolean; said: string }> = {};
  const provider = named(process.argv[2], targets.state);
  const session = await provider.open(fixture.spec);
  try {
    for (const attempt of ESCAPE_ATTEMPTS) {
      const code = `${PRELUDE}
try:
    exec(compile(${JSON.stringify(attempt.code(targets))}, "attempt", "exec"))
    print("ESCAPED " + repr(escaped) if escaped else "blocked")
except OSError as e:
    print("blocked", e)
`;
      const result = await session.run(
        { argv: ['python3', '-'], stdin: Buffer.from(code) },
        { timeoutMs: 20_000, maxOutputBytes: 10_000 },
      );
      const said = Buffer.from(result.output.head).toString().trim();
      results[attempt.name] = { escaped: !said.startsWith('blocked'), said };
    }
  } finally {
    await session.close();
    hostProcess.kill('SIGKILL');
    for (const server of servers) server.close();
  }
  const after = contents();
  const hostChanges = watched.filter((_, index) => before[index] !== after[index]);
  for (const place of ['/usr', '/etc', '/tmp', '/', fixture.spec.base.tree]) {
    if (existsSync(join(place, 'prime-escape'))) hostChanges.push(join(place, 'prime-escape'));
  }
  rmSync(shmFile);
  fixture.remove();
  const summary: EscapeResults = {
    uid: process.getuid?.() ?? -1,
    results,
    hostChanges,
    connections,
  };
  process.stdout.write(JSON.stringify(summary));
}

await main();
