// How paths and values are told, by every reporter for JavaScript runners and by rehearsals.
const fs = require('node:fs');
const path = require('node:path');
const { fileURLToPath } = require('node:url');
const { inspect } = require('node:util');

const MAX_TEXT = 8_000;
const MAX_FRAMES = 40;

const cut = (text, limit = MAX_TEXT) =>
  text.length > limit
    ? `${text.slice(0, limit)} … (${text.length - limit} characters left out)`
    : text;

/**
 * Tells paths from the folder `here`. The workspace may be visible at a second path (bind mounts): the
 * same file under another name.
 */
function createRelative(here) {
  const fileNames = new Map();
  return function relative(file) {
    const known = fileNames.get(file);
    if (known !== undefined) return known;
    const found = findRelative(here, file);
    fileNames.set(file, found);
    return found;
  };
}

function findRelative(here, file) {
  let name = file;
  if (name.startsWith('file://')) {
    try {
      name = fileURLToPath(name);
    } catch {
      return file;
    }
  }
  name = path.resolve(here, name.replace(/\?.*$/, ''));
  const direct = path.relative(here, name);
  if (!direct.startsWith('..')) return direct;
  try {
    const { dev, ino } = fs.statSync(name);
    const parts = name.split(path.sep);
    for (let index = 1; index < parts.length; index += 1) {
      const candidate = parts.slice(index).join(path.sep);
      const found = fs.statSync(path.join(here, candidate), { throwIfNoEntry: false });
      if (found && found.dev === dev && found.ino === ino) return candidate;
    }
  } catch {
    // Not a file of this machine: a frame of the runtime.
  }
  return direct;
}

const shown = (value) =>
  inspect(value, {
    depth: 6,
    maxArrayLength: 50,
    maxStringLength: 2_000,
    sorted: false,
    breakLength: 80,
  });

/** Strings read best without quotes; where that would make two different values look alike, both keep them. */
function values(expected, actual) {
  const text = (value) => (typeof value === 'string' ? value : shown(value));
  let pair = [text(expected), text(actual)];
  if (pair[0] === pair[1] || pair.includes('')) pair = [shown(expected), shown(actual)];
  return { expected: cut(pair[0]), actual: cut(pair[1]) };
}

module.exports = { MAX_FRAMES, MAX_TEXT, createRelative, cut, shown, values };
