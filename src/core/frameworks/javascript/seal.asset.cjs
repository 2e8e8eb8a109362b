// Writes lines of a report with a seal (see ../seal.ts) that code in this process cannot make: the key
// is read from stdin, once, before anything of the project is loaded, and lives in a closure.
// Everything that is called here was taken before as well, so that what tests replace is not used.
const crypto = require('node:crypto');
const fs = require('node:fs');

const { closeSync, openSync, readSync, writeSync } = fs;
const { stringify } = JSON;
const { keys } = Object;
const { isArray } = Array;
const { from } = Buffer;
const waiting = new Int32Array(new SharedArrayBuffer(4));
const { wait } = Atomics;
const { hash, createHash } = crypto;
const { update, digest } = Object.getPrototypeOf(createHash('sha256'));
const { apply } = Reflect;
const { slice } = String.prototype;

/** The key on stdin; afterwards nothing is there to be read. Empty where nobody gave one. */
function takeKey() {
  let key = '';
  const bytes = Buffer.alloc(256);
  for (;;) {
    try {
      const length = readSync(0, bytes, 0, bytes.length, null);
      if (length === 0) break;
      key += bytes.toString('latin1', 0, length);
    } catch (error) {
      if (error.code !== 'EAGAIN') break;
      wait(waiting, 0, 0, 5);
    }
  }
  bytes.fill(0);
  try {
    closeSync(0);
    // The lowest free descriptor: stdin again.
    openSync('/dev/null', 'r');
  } catch {
    // No stdin at all.
  }
  return key.trim();
}

// `toJSON` of a changed prototype would have its say in JSON.stringify: only plain values go there.
function encode(value) {
  if (value === null || typeof value !== 'object') return stringify(value) ?? 'null';
  let text = '';
  if (isArray(value)) {
    for (let at = 0; at < value.length; at += 1) text += `${at > 0 ? ',' : ''}${encode(value[at])}`;
    return `[${text}]`;
  }
  const names = keys(value);
  for (let at = 0; at < names.length; at += 1) {
    const part = value[names[at]];
    if (part === undefined) continue;
    text += `${text === '' ? '' : ','}${stringify(names[at])}:${encode(part)}`;
  }
  return `{${text}}`;
}

function sha256(text) {
  if (hash !== undefined) return hash('sha256', text, 'hex');
  return apply(digest, apply(update, createHash('sha256'), [text, 'utf8']), ['hex']);
}

const checkOf = (key, number, { type, status = '' }) =>
  apply(slice, sha256(`${key}${number} ${type} ${status}${key}`), [0, 32]);

/** A function that writes one line to a descriptor. Without a key lines carry no seal. */
function createWriter(fd, key) {
  let number = 0;
  return function write(line) {
    let text = encode(line);
    if (key !== '') {
      number += 1;
      const check = checkOf(key, number, line);
      text = `${number} ${check} ${text}`;
    }
    const bytes = from(`${text}\n`);
    let offset = 0;
    while (offset < bytes.length) {
      try {
        offset += writeSync(fd, bytes, offset);
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
        wait(waiting, 0, 0, 5);
      }
    }
  };
}

/** Reads what a `createWriter` of another process wrote: one line, undefined for a foreign one. */
function createReader(key) {
  let last = 0;
  return (sealed) => {
    const [, check, text] = /^\d+ ([0-9a-f]{32}) (\{.*\})$/s.exec(sealed) ?? [];
    if (text === undefined) return undefined;
    try {
      const line = JSON.parse(text);
      if (checkOf(key, last + 1, line) !== check) return undefined;
      last += 1;
      return line;
    } catch {
      return undefined;
    }
  };
}

const newKey = () => crypto.randomBytes(32).toString('hex');

module.exports = { createReader, createWriter, newKey, takeKey };
