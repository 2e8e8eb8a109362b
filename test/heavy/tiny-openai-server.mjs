/**
 * Starts a real OpenAI-compatible server (`transformers serve`) with a tiny model that is made on
 * the spot, for tests and for trying the agent against an endpoint:
 *
 *     node test/heavy/tiny-openai-server.mjs [--port N]
 *
 * Prints one line of JSON, {"baseUrl": …, "model": …}, when it is ready, and serves until SIGINT or
 * SIGTERM. Installs PyTorch and transformers once, into PRIME_AGENT_HEAVY_VENV or below
 * node_modules/.cache; afterwards it needs no network.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const PACKAGES = ['torch==2.13.0', 'transformers[serving]==5.17.0', 'requests==2.34.2'];
const here = fileURLToPath(new URL('.', import.meta.url));
const { values } = parseArgs({ options: { port: { type: 'string' } } });

const venv =
  process.env.PRIME_AGENT_HEAVY_VENV ??
  join(here, '../../node_modules/.cache/prime-agent/openai-server-venv');
installPackages();

const folder = mkdtempSync(join(tmpdir(), 'prime-tiny-model-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const model = join(folder, 'tiny-chat');
const env = {
  ...process.env,
  HF_HUB_OFFLINE: '1',
  HF_HUB_DISABLE_TELEMETRY: '1',
  HF_HUB_CACHE: join(folder, 'hub'),
};
mkdirSync(env.HF_HUB_CACHE);
note('making the model');
execFileSync(join(venv, 'bin/python'), [join(here, 'make-tiny-model.py'), model], {
  env,
  stdio: ['ignore', 2, 2],
});

const port = values.port === undefined ? await freePort() : Number(values.port);
const server = spawn(
  join(venv, 'bin/transformers'),
  [
    'serve',
    model,
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--device',
    'cpu',
    '--dtype',
    'float32',
  ],
  { env, stdio: ['ignore', 2, 2] },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill('SIGKILL'));
server.on('error', (error) => fail(`transformers serve could not be started: ${error.message}`));
const gone = once(server, 'exit');
gone.then(([code]) => process.exit(code ?? 0));

note('waiting for the server');
await ready();
process.stdout.write(`${JSON.stringify({ baseUrl: `http://127.0.0.1:${port}/v1`, model })}\n`);

function installPackages() {
  const stamp = join(venv, 'installed.txt');
  const wanted = PACKAGES.join('\n');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  note(
    `installing ${PACKAGES.join(', ')} into ${venv} (once; several GB where no CPU build is at hand)`,
  );
  execFileSync(process.env.PYTHON ?? 'python3', ['-m', 'venv', venv], { stdio: ['ignore', 2, 2] });
  execFileSync(join(venv, 'bin/python'), ['-m', 'pip', 'install', '--quiet', ...PACKAGES], {
    stdio: ['ignore', 2, 2],
  });
  writeFileSync(stamp, wanted);
}

async function ready() {
  for (const end = Date.now() + 180_000; Date.now() < end; await sleep(300)) {
    const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
    if (answer?.ok) return;
  }
  server.kill('SIGKILL');
  fail('transformers serve was not ready within 180 s.');
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return address.port;
}

function note(text) {
  process.stderr.write(`tiny-openai-server: ${text}\n`);
}

function fail(text) {
  note(text);
  process.exit(1);
}
