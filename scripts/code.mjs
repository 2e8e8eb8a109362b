// `npm run code [-- EXAMPLE]`: opens an example with the extension in it, in the installed VS Code or,
// where there is none (or with --web), in the browser. Everything is a copy in a temporary folder.
//   --web           in the browser even if VS Code is installed
//   --port NUMBER   for the browser; by default a free one
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  checkNode,
  fail,
  installDependencies,
  installSystemPackages,
  onPath,
  pythonEnvironment,
  root,
  run,
  say,
  step,
} from './lib/steps.mjs';
import { VscodeWebProblem, vscodeWeb } from './lib/vscode-web.mjs';
import { installExtension, startVscodeWeb } from './lib/vscode-web-server.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    web: { type: 'boolean', default: false },
    port: { type: 'string', default: '0' },
    yes: { type: 'boolean', default: false },
  },
});
const examples = readdirSync(join(root, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const example = positionals[0] ?? 'shop-cart';
if (!examples.includes(example)) {
  fail(`There is no example "${example}". There are: ${examples.join(', ')}.`, 2);
}
const port = Number(values.port);
if (!Number.isInteger(port) || port < 0 || port > 65535) {
  fail(`--port takes a number from 0 to 65535, not "${values.port}".`, 2);
}

checkNode();
await installSystemPackages({ yes: values.yes });
await installDependencies();
const python = await pythonEnvironment();
const desktop = !values.web && onPath('code');

const folder = mkdtempSync(join(tmpdir(), 'prime-agent-code-'));
const userData = join(folder, 'profile');
const extensions = join(folder, 'extensions');
const project = join(folder, example);
/** Runs once, however this ends. */
const endings = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })];
let ending;
const end = (code) => {
  ending ??= (async () => {
    for (const work of endings.reverse()) await work();
    process.exit(code);
  })();
  return ending;
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0));

try {
  prepareProject();
  mkdirSync(extensions, { recursive: true });
  mkdirSync(join(userData, 'User'), { recursive: true });
  writeFileSync(
    join(userData, 'User', 'settings.json'),
    JSON.stringify({ 'workbench.startupEditor': 'none', 'telemetry.telemetryLevel': 'off' }),
  );
  const vsix = join(folder, 'prime-agent.vsix');
  const code = await step('Packaging the extension', () =>
    run(process.execPath, [join(root, 'scripts/package.mjs'), '--out', vsix]),
  );
  if (code !== 0) throw new Error('The extension could not be packaged (see above).');
  await (desktop ? openDesktop(vsix) : openBrowser(vsix));
  await end(0);
} catch (error) {
  if (!ending) {
    process.stderr.write(`${error instanceof VscodeWebProblem ? error.message : error.stack}\n`);
  }
  await end(ending ? 0 : 3);
}

function prepareProject() {
  cpSync(join(root, 'examples', example), project, { recursive: true });
  if (
    existsSync(join(project, 'package-lock.json')) &&
    !existsSync(join(project, 'node_modules'))
  ) {
    spawnSync('npm', ['ci', '--ignore-scripts', '--prefer-offline'], { cwd: project });
  }
  const git = (...args) => spawnSync('git', args, { cwd: project });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git(
    '-c',
    'user.name=Example',
    '-c',
    'user.email=example@localhost',
    'commit',
    '-qm',
    'An example',
  );
}

function environment() {
  if (!python) return process.env;
  return {
    ...process.env,
    VIRTUAL_ENV: python,
    PATH: `${join(python, 'bin')}:${process.env.PATH}`,
  };
}

async function openDesktop(vsix) {
  const profile = ['--user-data-dir', userData, '--extensions-dir', extensions];
  const installed = await step('Installing it into VS Code', () =>
    run('code', [...profile, '--install-extension', vsix]),
  );
  if (installed !== 0) throw new Error('VS Code could not install the extension (see above).');
  say(
    `VS Code opens ${project} with a profile of its own. It ends with its window, or with Ctrl-C.`,
  );
  const child = spawn(
    'code',
    [...profile, '--disable-workspace-trust', '--wait', '--new-window', project],
    {
      env: environment(),
      stdio: 'inherit',
    },
  );
  endings.push(() => child.kill());
  await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
}

async function openBrowser(vsix) {
  const vscode = await vscodeWeb({ browser: false });
  await step('Installing it into VS Code', () =>
    installExtension(vscode, vsix, { extensions, userData }),
  );
  const server = await startVscodeWeb(vscode, {
    userData,
    extensions,
    trust: 'all',
    port,
    env: environment(),
  });
  endings.push(() => server.close());
  say(`\nVS Code with Prime Agent: ${server.url}/?folder=${encodeURIComponent(project)}`);
  say('Open this address in a browser. Anybody on this machine can. Ctrl-C ends everything.');
  await server.exited;
}
