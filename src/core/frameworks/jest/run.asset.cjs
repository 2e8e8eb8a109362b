// Runs jest with the project's configuration and a reporter of our own. Argument: JSON
// {tests: string[], list: boolean, args: string[]}, args of the test script.
const {
  NOTHING,
  isFolder,
  packageFile,
  readChoice,
  resolveFrom,
} = require('../javascript/choice.asset.cjs');
const { lock, write } = require('../javascript/report.asset.cjs');
// Loaded now, while what it needs is there.
require('./reporter.asset.cjs');

lock();

const { tests, list, args } = JSON.parse(process.argv[2]);

/** Options of the script that stay: those that say what the project is. */
const KEPT =
  /^(?:--?c(?:onfig)?|--(?:env|testEnvironment|testEnvironmentOptions|rootDir|roots|projects|selectProjects|ignoreProjects|setupFiles|setupFilesAfterEnv|globals|preset|resolver|transform|moduleNameMapper|testTimeout|testRegex|testMatch|testPathIgnorePatterns|maxWorkers|workerThreads|experimental-vm-modules|globalSetup|globalTeardown|testRunner|haste|modulePaths|moduleDirectories|injectGlobals|randomize|seed|resetMocks|restoreMocks|clearMocks|resetModules|automock))(?:=|$)/;
const PATTERN = /^--testPathPatterns?(?:=|$)/;
const FLAG =
  /^--(?:no-\w+|workerThreads|injectGlobals|randomize|resetMocks|restoreMocks|clearMocks|resetModules|automock|experimental-vm-modules)$/;
/** Options that are left out together with the word behind them. */
const DROPPED_VALUE =
  /^(?:-t|--(?:testNamePattern|reporters?|coverage(?:Reporters|Directory|Provider|Threshold)|collectCoverageFrom|outputFile|shard|changedSince|testResultsProcessor|cacheDirectory))$/;

function readArguments() {
  const kept = [];
  const patterns = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    const next = args[at + 1];
    const hasValue = !word.includes('=') && next !== undefined && !next.startsWith('-');
    if (!word.startsWith('-')) patterns.push(word);
    else if (PATTERN.test(word))
      patterns.push(hasValue ? args[++at] : word.slice(word.indexOf('=') + 1));
    else if (KEPT.test(word)) {
      kept.push(word);
      if (hasValue && !FLAG.test(word)) kept.push(args[++at]);
    } else if (/^(?:-i|--runInBand|-w=?1)$/.test(word)) kept.push('--maxWorkers=1');
    else if (DROPPED_VALUE.test(word) && hasValue) at += 1;
  }
  return { kept, patterns };
}

function stop(error) {
  const lines = String(error?.message ?? error)
    .trim()
    .split('\n');
  const text = lines
    .map((line) => line.trim())
    .filter(Boolean)
    .slice(0, 3)
    .join(' ');
  process.stderr.write(
    `prime-agent: jest could not start: ${text.replace(/\x1b\[[0-9;]*m/g, '')}\n`,
  );
  process.exit(1);
}

const escapeRegExp = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

async function main() {
  const { version } = require(packageFile('jest'));
  process.env.NODE_ENV ??= 'test';
  write({ type: 'start', runner: 'jest', version });
  const { everything, files, pattern } = readChoice(tests, list);
  if (!everything && files.length === 0) {
    write({ type: 'end' });
    process.exit(1);
  }
  const { kept, patterns } = readArguments();
  const reporter = require.resolve('./reporter.asset.cjs');
  const names = list ? NOTHING : pattern;
  const chosen = everything
    ? patterns
    : files.some(isFolder)
      ? files.map((file) => `/${escapeRegExp(file)}(?:/|$)`)
      : ['--runTestsByPath', ...files];
  const major = Number(version.split('.')[0]);
  process.env.PRIME_JEST_LIST = list ? '1' : '';
  // Where nothing is thrown away after the run, its cache must not stay behind.
  const cache = process.env.PRIME_JEST_CACHE;
  delete process.env.PRIME_JEST_CACHE;
  const argv = [
    ...kept,
    '--reporters=default',
    `--reporters=${reporter}`,
    ...['--testLocationInResults', '--passWithNoTests', '--forceExit', '--ci=false', '--bail=0'],
    ...[
      '--coverage=false',
      '--watch=false',
      '--watchAll=false',
      '--watchman=false',
      '--notify=false',
    ],
    ...['--onlyFailures=false', '--onlyChanged=false', '--verbose=false', '--colors=false'],
    // With a limit for memory jest uses workers also for a single file: what ends a test's process
    // does not end the run, and tests do not have the report.
    ...(major >= 29 && !kept.some((word) => /workerIdleMemoryLimit|workerThreads/.test(word))
      ? ['--workerIdleMemoryLimit=64GB']
      : []),
    ...(cache ? [`--cacheDirectory=${cache}`] : []),
    ...(names ? [`--testNamePattern=${names}`] : []),
    ...chosen,
  ];
  await require(resolveFrom('jest')).run(argv, process.cwd());
}

main().catch(stop);
