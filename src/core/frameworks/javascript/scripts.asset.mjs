// What the test script of package.json starts, and with which flags, variables and build steps.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const BUILDS = /^(?:tsc|esbuild|swc|babel|tsup|rollup|webpack|vite|unbuild|tsdown)$/;

export function shellWords(text) {
  const words = [];
  for (const match of text.matchAll(/(?:[^\s"';&|]|"(?:[^"\\]|\\.)*"|'[^']*')+|&&|\|\||[;&|]/g)) {
    words.push(
      match[0].replace(
        /"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
        (_, double, single) => single ?? double.replace(/\\(["\\$`])/g, '$1'),
      ),
    );
  }
  return words;
}

function splitCommands(script) {
  const commands = [[]];
  for (const word of shellWords(script)) {
    if (['&&', '||', ';', '&', '|'].includes(word)) commands.push([]);
    else commands[commands.length - 1].push(word);
  }
  return commands.filter((command) => command.length > 0);
}

/** Variables in front of a command (`CI=1 x`, `cross-env CI=1 x`), and the index of the word behind them. */
export function leadingVariables(words) {
  const env = {};
  let index = words[0] === 'cross-env' || words[0] === 'env' ? 1 : 0;
  while (/^[A-Za-z_]\w*=/.test(words[index] ?? '')) {
    const [name, ...rest] = words[index].split('=');
    env[name] = rest.join('=');
    index += 1;
  }
  return { env, index };
}

// Follows `npm run x`; commands before the tests are kept only where they build what is tested.
function planFrom(scripts, name, read, depth = 0) {
  const script = scripts?.[name];
  if (typeof script !== 'string' || depth > 4) return undefined;
  const before = typeof scripts[`pre${name}`] === 'string' ? buildSteps(scripts[`pre${name}`]) : [];
  for (const words of splitCommands(script)) {
    const found = read(words) ?? planFrom(scripts, scriptName(words), read, depth + 1);
    if (found) return { ...found, before: [...before, ...(found.before ?? [])] };
    before.push(...buildSteps(quoted(words)));
  }
  return undefined;
}

const quoted = (words) =>
  words.map((word) => (/[\s"'$*]/.test(word) ? `'${word}'` : word)).join(' ');

function scriptName(words) {
  if (!/^(?:npm|pnpm|yarn)$/.test(words[0] ?? '')) return '';
  const rest = words.slice(1).filter((word) => !word.startsWith('-'));
  return (rest[0] === 'run' ? rest[1] : rest[0]) ?? '';
}

function buildSteps(script) {
  return splitCommands(script)
    .filter(
      (words) =>
        (BUILDS.test(words[0] ?? '') && !words.includes('--noEmit')) ||
        /build|compile/.test(scriptName(words)),
    )
    .map(quoted);
}

/**
 * The first command of the test script that `read` makes something of, with the build steps in
 * front of it; undefined where there is none. `others`: then of the scripts named `test:…`.
 */
export function projectPlan(here, read, others = false) {
  try {
    const manifest = JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8'));
    const named = Object.keys(manifest.scripts ?? {}).filter((name) => /^test[:._-]/.test(name));
    for (const name of ['test', ...(others ? named : [])]) {
      const plan = planFrom(manifest.scripts, name, read);
      if (plan) return plan;
    }
  } catch {
    // No manifest, or none that can be read: the defaults of the runner.
  }
  return undefined;
}

/** Runs build steps as npm would; the text of the first one that fails, else undefined. */
export function runBuild(here, steps) {
  const bin = [];
  for (let folder = here; ; folder = path.dirname(folder)) {
    bin.push(path.join(folder, 'node_modules', '.bin'));
    if (folder === path.dirname(folder)) break;
  }
  const env = {
    ...process.env,
    PATH: [...bin, path.dirname(process.execPath), process.env.PATH].join(':'),
  };
  return steps.find((step) => {
    const { status } = spawnSync('bash', ['-c', step], {
      cwd: here,
      env,
      stdio: ['ignore', 1, 2, 'ignore'],
    });
    return status !== 0;
  });
}
