// Runs mocha with the project's options (.mocharc, package.json, test script) and a reporter of our
// own. Argument: JSON {tests: string[], list: boolean, args: string[]}, args of the test script.
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const {
  isFolder,
  packageFile,
  readChoice,
  resolveFrom,
} = require('../javascript/choice.asset.cjs');
const { handOver, lock, write } = require('../javascript/report.asset.cjs');
const reporter = require('./reporter.asset.cjs');

lock();

const { tests, list, args } = JSON.parse(process.argv[2]);
const RESPAWNED = 'PRIME_MOCHA_FLAGS';

/** What reports, ends a run early, spreads it over processes, repeats it or chooses tests. */
const DROPPED =
  'reporter R reporter-option reporter-options reporterOption reporterOptions O bail b parallel p jobs j watch w watch-files watch-ignore grep g fgrep f invert i forbid-only forbidOnly forbid-pending forbidPending dry-run dryRun exit color c colors fail-zero failZero pass-on-failing-test-suite passOnFailingTestSuite diff inline-diffs full-trace spec _'.split(
    ' ',
  );

function stop(error) {
  const text = String(error?.message ?? error)
    .trim()
    .split('\n')
    .slice(0, 3)
    .join(' ');
  process.stderr.write(`prime-agent: mocha could not start: ${text}\n`);
  process.exit(1);
}

/** Mocha's own file of this name, whatever its extension is in this version. */
function part(name) {
  const folder = path.dirname(packageFile('mocha'));
  const found = [`${name}.cjs`, `${name}.js`].find((file) =>
    fs.existsSync(path.join(folder, file)),
  );
  return pathToFileURL(path.join(folder, found)).href;
}

async function main() {
  const [{ loadOptions }, { isNodeFlag, unparseNodeFlags }, { main: start }] = await Promise.all(
    ['lib/cli/options', 'lib/cli/node-flags', 'lib/cli/cli'].map((name) => import(part(name))),
  );
  const options = loadOptions(args);
  const nodeOptions = {};
  for (const [key, value] of Object.entries(options)) {
    if (!isNodeFlag(key)) continue;
    delete options[key];
    nodeOptions[/^v8-(?!options)/.test(key) ? key.slice(3) : key] = value;
  }
  const flags = unparseNodeFlags(nodeOptions).filter((flag) => !/^--inspect/.test(flag));
  if (flags.length > 0 && process.env[RESPAWNED] === undefined) {
    const again = [...process.execArgv, ...flags, __filename, process.argv[2]];
    const env = { ...process.env, [RESPAWNED]: '1' };
    const child = spawn(process.execPath, again, {
      env,
      stdio: ['pipe', 'inherit', 'inherit', 3],
    });
    child.stdin.on('error', () => {});
    handOver(child);
    child.on('error', stop);
    child.on('close', (code) => process.exit(code ?? 137));
    return;
  }
  delete process.env[RESPAWNED];
  const { version } = require(packageFile('mocha'));
  write({ type: 'start', runner: 'mocha', version });
  const { everything, files, pattern } = readChoice(tests, list);
  if (!everything && files.length === 0) {
    write({ type: 'end' });
    process.exit(1);
  }
  const positional = [...(options._ ?? []), ...(options.spec ?? [])];
  for (const key of DROPPED) delete options[key];
  const module = await import(pathToFileURL(resolveFrom('mocha')).href);
  reporter.settings.list = list;
  reporter.prepare(module.default ?? module);
  const chosen = files.map((file) => `./${file}`);
  if (files.some(isFolder)) options.recursive = true;
  await start([], {
    ...options,
    _: everything ? positional : chosen,
    ...(pattern && { grep: pattern }),
    reporter: require.resolve('./reporter.asset.cjs'),
    'dry-run': list,
    dryRun: list,
    bail: false,
    parallel: false,
    color: false,
    // Otherwise mocha rewrites the paths of stacks.
    'full-trace': true,
    fullTrace: true,
    exit: true,
  });
}

main().catch(stop);
