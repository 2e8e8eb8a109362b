// Runs node-tap (`tap run`) and turns its protocol into our report. Argument: JSON
// {tests: string[], list: boolean, args: string[]}, args of the test script.
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { packageFile, readChoice } = require('../javascript/choice.asset.cjs');
const { cut, framesOf, plain, relative, write } = require('../javascript/report.asset.cjs');
const { createParser } = require('./parser.asset.cjs');

const { tests, list, args } = JSON.parse(process.argv[2]);
const MAX_STDERR = 2 * 2 ** 20;
/** What reports, ends a run early, measures, repeats, watches or changes snapshots. */
const DROPPED =
  /^(?:-R|--reporter|-r|--reporter-file|-b|--bail|-j|--jobs|-J|-w|--watch|-n|--changed|-s|--save|-f|--failures|-o|--only|-S|--snapshot|--show-full-coverage|--coverage.*|--disable-coverage|--allow-.*coverage|-a|-c|--color|-C|--no-color|--browser|--output-.*|-P|--passes|-O|-T|--timeout.*)(?:=|$)/;
const WITH_VALUE =
  /^(?:-R|--reporter|-r|--reporter-file|-j|--jobs|-s|--save|--coverage-report|--coverage-map|--output-file|--output-dir|-o)$/;

function scriptArguments() {
  const kept = [];
  const words = args[0] === 'run' ? args.slice(1) : args;
  for (let at = 0; at < words.length; at += 1) {
    if (!DROPPED.test(words[at])) kept.push(words[at]);
    else if (WITH_VALUE.test(words[at])) at += 1;
  }
  return {
    options: kept.filter((word) => word.startsWith('-')),
    patterns: kept.filter((word) => !word.startsWith('-')),
  };
}

const manifest = packageFile('tap');
const { version, bin } = require(manifest);
const program = path.join(path.dirname(manifest), typeof bin === 'string' ? bin : bin.tap);
write({ type: 'start', runner: 'tap', version });
const { everything, files } = readChoice(tests, list);
if (!everything && files.length === 0) {
  write({ type: 'end' });
  process.exit(1);
}
const { options, patterns } = scriptArguments();
// Tap writes its results and what ran into the project; where it never did, that goes again.
const RESULTS = '.tap';
const hadResults = fs.existsSync(RESULTS);
const child = spawn(
  process.execPath,
  [
    ...[...process.execArgv, program, 'run', ...options],
    // One file after the other: otherwise none is told before it has ended.
    ...['--reporter=tap', '--disable-coverage', '--no-color', '--no-bail', '--jobs=1'],
    // Tests that are not marked are named and left out.
    ...(list ? ['--only'] : []),
    ...(everything ? patterns : files),
  ],
  { stdio: ['ignore', 'pipe', 'pipe'] },
);

let errors = '';
let told = 0;
const broken = [];
const parser = createParser({ list, brokenFile: (file, how) => broken.push({ file, how }) });
let rest = '';
child.stdout.setEncoding('utf8');
child.stdout.on('data', (chunk) => {
  process.stdout.write(chunk);
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) {
    if (line.startsWith('# Subtest: ')) told += 1;
    parser.line(line);
  }
});
child.stderr.setEncoding('utf8');
child.stderr.on('data', (chunk) => {
  process.stderr.write(chunk);
  errors = (errors + chunk).slice(-MAX_STDERR);
});
child.on('close', (code, signal) => {
  if (rest) parser.line(rest);
  parser.end();
  for (const { file, how } of broken)
    write({ type: 'collectionError', file, ...reasonOf(file, how) });
  if (told > 0 && !signal) write({ type: 'end' });
  else process.stderr.write(`prime-agent: tap ended before any test file: ${lastError()}\n`);
  try {
    if (!hadResults) fs.rmSync(RESULTS, { recursive: true, force: true });
  } catch {
    // A process of the tests still writes there.
  }
  process.exit(code ?? 1);
});

/** What node printed about a file that it could not load. */
function reasonOf(file, how) {
  const text = plain(errors);
  const at = text.lastIndexOf(`${path.sep}${file}`);
  const before = text.lastIndexOf('\n\n', at);
  const blocks = text.slice(Math.max(0, text.lastIndexOf('\n', before - 1)));
  const message = /^(?:Uncaught )?\w*(?:Error|Exception)\b.*$/m.exec(at < 0 ? '' : blocks)?.[0];
  const frames = at < 0 ? [] : framesOf(blocks);
  const place = at < 0 ? null : /(\S*?):(\d+)/.exec(text.slice(text.lastIndexOf('\n', at) + 1));
  if (place && !/^\s*at /.test(text.slice(text.lastIndexOf('\n', at) + 1)))
    frames.unshift({ file: relative(place[1]), line: Number(place[2]) });
  return { message: cut(message ?? `the file ${how} before any test`, 2_000), frames };
}

function lastError() {
  const lines = plain(errors)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.find((line) => /Error\b.*:/.test(line)) ?? lines.at(-1) ?? 'it said nothing';
}
