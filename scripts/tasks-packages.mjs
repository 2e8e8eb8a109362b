// Makes the tasks in policies/packages from three real npm packages: fetches them, keeps what their
// tests without dependencies need, and lets `prime-agent tasks build` break it (docs/nano-packages.md).
//   node scripts/tasks-packages.mjs              all of them, into policies/packages
//   node scripts/tasks-packages.mjs --out DIR    somewhere else
//   node scripts/tasks-packages.mjs --only NAME  one of them
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { bundleOptions } from './lib/bundle.mjs';
import { checkNode, fail, root, run, say } from './lib/steps.mjs';

/**
 * Licence MIT, and a LICENSE that stays in the tree. `keep`: without tests that need what the package
 * does not bring, and without what no test loads.
 */
const PACKAGES = [
  {
    name: 'forwarded',
    spec: '@fastify/forwarded@3.1.2',
    integrity:
      'sha512-89WiRG+hW3VQSfCwg4Hb8b43PeyEX15K5+lEfsZ4EUth/FyOjS/lv8HsVuswUNXWiSnxMGNouE/fq/0w3VumHQ==',
    keep: ['LICENSE', 'package.json', 'index.js', 'test'],
  },
  {
    name: 'send',
    spec: '@fastify/send@4.2.1',
    integrity:
      'sha512-zOB8L9z444PnGbd1Nd7gNXPz/7bnDR8Z4KNTNSwLVQuE3cTGsU9qUj1N4SjXKK0Tq4cauZYTwB+tqvlqosuKsw==',
    keep: [
      'LICENSE',
      'package.json',
      ...[
        'collapseLeadingSlashes',
        'containsDotFile',
        'isUtf8MimeType',
        'normalizeList',
        'parseBytesRange',
      ].flatMap((file) => [`lib/${file}.js`, `test/${file}.test.js`]),
    ],
  },
  {
    name: 'pino-std-serializers',
    spec: 'pino-std-serializers@7.1.0',
    integrity:
      'sha512-BndPH67/JxGExRgiX1dX0w1FvZck5Wa4aal9198SrRhZjH3GxKQUKIBnYJTdj2HDN3UQAS06HlfcSbQj2OHmaw==',
    keep: [
      'LICENSE',
      'package.json',
      'index.js',
      'lib',
      'test/err.test.js',
      'test/err-with-cause.test.js',
    ],
  },
];
const BUILD = ['--limit', '12', '--seed', '1', '--max-minutes', '20'];

checkNode();
const { values } = parseArgs({ options: { out: { type: 'string' }, only: { type: 'string' } } });
const out = resolve(values.out ?? join(root, 'policies/packages'));
const wanted = PACKAGES.filter(({ name }) => values.only === undefined || values.only === name);
if (wanted.length === 0) {
  fail(`--only ${values.only}: choose one of ${PACKAGES.map(({ name }) => name).join(', ')}.`);
}
mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), 'prime-agent-packages-'));
// Next to the dependencies, and not in dist/, which others may be using.
const bundle = mkdtempSync(join(root, 'node_modules', '.packages-'));
try {
  const cli = join(bundle, 'cli.mjs');
  await build({
    ...bundleOptions,
    entryPoints: ['src/cli/main.ts'],
    absWorkingDir: root,
    outfile: cli,
  });
  for (const wish of wanted) {
    say(`\n── ${wish.spec}`);
    const folder = fetchPackage(wish);
    const file = join(out, `${wish.name}.jsonl.gz`);
    const args = ['tasks', 'build', folder, '--out', file, ...BUILD];
    const code = await run(process.execPath, [cli, ...args], { show: true });
    if (code !== 0) throw new Error(`prime-agent tasks build ended with exit code ${code}.`);
    say(`${(statSync(file).size / 1000).toFixed(1)} kB`);
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(bundle, { recursive: true, force: true });
  rmSync(work, { recursive: true, force: true });
}

/** The kept files in a folder that is called like the package. Throws if it is not the pinned one. */
function fetchPackage({ name, spec, integrity, keep }) {
  const place = join(work, `${name}-tarball`);
  mkdirSync(place);
  command('npm', ['pack', spec, '--silent', '--ignore-scripts', '--pack-destination', place], {
    next: 'Check the connection to your npm registry.',
  });
  const [tarball] = readdirSync(place);
  if (tarball === undefined) throw new Error(`npm pack ${spec} made no file.`);
  const bytes = readFileSync(join(place, tarball));
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== integrity) {
    throw new Error(`${spec} is not what it was: ${found} instead of ${integrity}.`);
  }
  command('tar', ['-xzf', join(place, tarball), '-C', place], {});
  const folder = join(work, name);
  for (const path of keep) {
    const from = join(place, 'package', path);
    if (!existsSync(from)) throw new Error(`${spec} holds no ${path}.`);
    cpSync(from, join(folder, path), { recursive: true });
  }
  return folder;
}

function command(program, args, { next = '' }) {
  const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status === 0) return;
  const why = error?.message ?? stderr.trim();
  throw new Error(`${[program, ...args].join(' ')} failed: ${why} ${next}`.trim());
}
