// What is chosen, as files and patterns of names. Ids are relative to the working directory.
const fs = require('node:fs');
const path = require('node:path');
const { write } = require('./report.asset.cjs');

const MAX_PATTERNS = 200;
const escapeRegExp = (text) => text.replace(/[.*+?^${}()|[\]\\/-]/g, (char) => `\\${char}`);

/**
 * Runners match the names of suites and test joined by blanks. A name may itself hold ` > `, so
 * both readings are allowed; results are filtered afterwards. A suite's name stands for its tests.
 */
function patternFor(name) {
  const bare = name.replace(/ #\d+$/, '');
  const text = bare === name ? joined(name) : `(?:${joined(bare)}|${joined(name)})`;
  return `^ ?${text}(?: .*)?$`;
}

const joined = (name) => name.split(' > ').map(escapeRegExp).join('(?: | > )');

/**
 * @returns files and folders that exist, in order, and a source of a pattern for names; undefined
 * where whole files run. What does not exist is reported. `everything`: nothing was chosen.
 */
function readChoice(tests, list) {
  const files = new Set();
  const names = [];
  let whole = tests.length === 0 || list;
  for (const id of tests) {
    const at = id.indexOf('::');
    const file = at < 0 ? id : id.slice(0, at);
    if (!fs.existsSync(path.resolve(file))) {
      if (!files.has(file))
        write({ type: 'collectionError', file, message: 'there is no such file', frames: [] });
      continue;
    }
    files.add(file);
    if (at < 0) whole = true;
    else names.push(id.slice(at + 2));
  }
  const everything = tests.length === 0;
  if (whole || names.length === 0 || names.length > MAX_PATTERNS) {
    return { everything, files: [...files], pattern: undefined };
  }
  const pattern = [...new Set(names)].map(patternFor).join('|');
  return { everything, files: [...files], pattern };
}

/** Splits a choice of files into folders and files proper. */
const isFolder = (file) =>
  fs.statSync(path.resolve(file), { throwIfNoEntry: false })?.isDirectory() === true;

/** An own script of the project's runner: `jest/package.json` → absolute path. */
function resolveFrom(name) {
  const { createRequire } = require('node:module');
  return createRequire(path.resolve('package.json')).resolve(name);
}

/** package.json of a package, whether or not it lets others ask for it. */
function packageFile(name) {
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    const file = path.join(folder, 'node_modules', name, 'package.json');
    if (fs.existsSync(file)) return fs.realpathSync(file);
    if (folder === path.dirname(folder)) throw new Error(`${name} is not installed`);
  }
}

/** No test has this name. */
const NOTHING = '(?!)';

module.exports = { NOTHING, isFolder, packageFile, readChoice, resolveFrom };
