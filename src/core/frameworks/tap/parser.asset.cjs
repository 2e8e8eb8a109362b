// Reads TAP 14 as node-tap writes it, line by line, and reports (see ../report.ts for the lines).
// At the outermost level are test files, inside of them tests, inside of those assertions or tests.
const path = require('node:path');
const { createNames, cut, framesOf, plain, write } = require('../javascript/report.asset.cjs');

const GENERATED =
  /^(?:should be (?:equal|equivalent|equivalent strictly|strictly equal)|should (?:match|have) .*|should be equal)$/;

/** As much of YAML as TAP diagnostics have: maps of maps, plain values, and blocks of text. */
function readYaml(lines) {
  const found = {};
  let at = 0;
  const indentOf = (line) => line.length - line.trimStart().length;
  const readMap = (target, indent) => {
    while (at < lines.length) {
      const line = lines[at];
      if (line.trim() === '') {
        at += 1;
        continue;
      }
      if (indentOf(line) < indent) return;
      const match = /^\s*([\w$-]+):(?:\s(.*))?$/.exec(line);
      at += 1;
      if (!match) continue;
      const [, key, value = ''] = match;
      if (/^[|>][-+]?\d?$/.test(value.trim())) {
        const block = [];
        let own;
        while (at < lines.length && (lines[at].trim() === '' || indentOf(lines[at]) > indent)) {
          own ??= indentOf(lines[at]);
          block.push(lines[at].slice(own));
          at += 1;
        }
        target[key] = block.join('\n').trimEnd();
      } else if (value === '' && at < lines.length && indentOf(lines[at]) > indent) {
        target[key] = {};
        readMap(target[key], indentOf(lines[at]));
      } else target[key] = value.trim().replace(/^(["'])(.*)\1$/, '$2');
    }
  };
  readMap(found, lines.length > 0 ? indentOf(lines[0]) : 0);
  return found;
}

/** `Test.<anonymous> (test/a.js:3:26)`: frames of node-tap have relative paths and no `at`. */
function framesOfDiagnostic(diagnostic) {
  const stack = String(diagnostic.stack ?? '')
    .split('\n')
    .map((line) => {
      const match = /^(?:(.*?) \()?([^()]+):(\d+):(\d+)\)?$/.exec(line.trim());
      if (!match) return '';
      const file = match[2].startsWith('file:') ? match[2] : path.resolve(match[2]);
      return `    at ${match[1] ? `${match[1]} (` : ''}${file}:${match[3]}:${match[4]}${match[1] ? ')' : ''}`;
    });
  const frames = framesOf(stack.join('\n'));
  const { fileName, lineNumber } = diagnostic.at ?? {};
  if (frames.length === 0 && fileName && Number(lineNumber) > 0)
    frames.push({ file: path.normalize(fileName), line: Number(lineNumber) });
  return frames;
}

/** Both sides of the difference between `--- expected` and `+++ actual`. */
function sidesOf(diff) {
  const lines = String(diff).split('\n');
  const start = lines.findIndex((line) => line.startsWith('@@'));
  if (start < 0) return {};
  const side = (other) =>
    lines
      .slice(start + 1)
      .filter((line) => line[0] !== other && line[0] !== '\\')
      .map((line) => line.slice(1))
      .join('\n')
      .trim();
  const [expected, actual] = [side('+'), side('-')];
  return expected === actual ? {} : { expected: cut(expected), actual: cut(actual) };
}

function failureOfPoint(name, diagnostic) {
  const pair = diagnostic.diff ? sidesOf(diagnostic.diff) : {};
  const says = diagnostic.type && diagnostic.tapCaught ? `${diagnostic.type}: ${name}` : name;
  const generated = pair.expected !== undefined && GENERATED.test(says);
  return {
    message: cut(generated ? 'Expected values to be equal' : says || 'failed without a message'),
    ...pair,
    frames: framesOfDiagnostic(diagnostic),
    details: cut([says, diagnostic.diff, diagnostic.stack].filter(Boolean).join('\n\n'), 16_000),
  };
}

/** @param {{list: boolean, brokenFile: (file: string, how: string) => void}} options */
function createParser({ list, brokenFile }) {
  /** The subtest whose lines are at each level; 0 is the run, 1 a file. */
  const frames = [{ name: '' }];
  /** Blocks `{ … }` that are open, with the point in front of them. */
  const blocks = [];
  let last;
  let yaml;

  const file = () => frames[1]?.name ?? '';
  const describe = (level, name) => {
    const names = frames.slice(2, level + 1).map((frame) => frame.name);
    const full = [...names, name].join(' > ');
    const plainId = `${file()}::${full}`;
    return { id: plainId, key: plainId, file: file(), name: full };
  };
  const numbered = (told) => ({ ...told, id: frames[1].number(told.id) });

  function open(level, name) {
    frames.length = level + 1;
    frames.push({
      name,
      number: createNames(),
      failure: undefined,
      childFailed: false,
      tests: 0,
      failed: 0,
    });
    if (level === 0)
      write({ type: 'running', id: name, key: name, file: name, name: path.basename(name) });
    else write({ type: 'running', ...describe(level, name) });
  }

  function result(level, point, frame) {
    const { ok, name, skip, todo, ms } = point;
    frames[1].tests += 1;
    const told = numbered(describe(level, name));
    const { lineNumber, fileName } = point.diagnostic.at ?? {};
    const line = fileName === file() && Number(lineNumber) > 0 ? { line: Number(lineNumber) } : {};
    const base = { type: 'result', ...told, ...line, durationMs: ms };
    if (list) return write({ ...base, status: 'listed' });
    if (skip !== undefined) return write({ ...base, status: 'skipped' });
    if (todo !== undefined) return write({ ...base, status: 'todo' });
    if (ok) return write({ ...base, status: 'passed' });
    frames[1].failed += 1;
    if (level >= 2 && frames[level]) frames[level].childFailed = true;
    const failure = frame ? frame.failure : failureOfPoint(name, point.diagnostic);
    // Tests inside of it speak for themselves.
    if (!failure && frame?.childFailed) return write({ ...base, status: 'filtered' });
    return write({
      ...base,
      status: 'failed',
      failure: failure ?? failureOfPoint(name, point.diagnostic),
    });
  }

  function fileEnded(point) {
    const { exitCode, signal } = point.diagnostic;
    const died = signal && signal !== 'null';
    const how = died ? `was ended by ${signal}` : `exited with code ${exitCode ?? 1}`;
    // Tests that have begun and have no end of their own.
    if (frames.length > 2 && !list) {
      const level = frames.length - 2;
      const { name, failure } = frames[frames.length - 1];
      frames.length -= 1;
      const message = `the test process ${how} while this test ran`;
      const base = { type: 'result', ...describe(level, name), durationMs: 0, status: 'error' };
      write({ ...base, failure: { frames: [], details: message, ...failure, message } });
      frames[1].tests += 1;
      frames[1].failed += 1;
    }
    if (!point.ok && frames[1].tests === 0) brokenFile(file(), how);
    else if (!point.ok && frames[1].failed === 0 && !list) {
      const message = `the test process ${how} while this file ran`;
      const base = { type: 'result', id: file(), file: file(), name: path.basename(file()) };
      const failure = { message, frames: [], details: message };
      write({ ...base, durationMs: 0, status: 'error', failure });
    }
    write({ type: 'fileEnd', file: file() });
  }

  function finish() {
    const point = last;
    if (!point) return;
    last = undefined;
    const { level } = point;
    const closing = frames[level + 1]?.name === point.name ? frames[level + 1] : undefined;
    if (level === 0) {
      if (closing) fileEnded(point);
      frames.length = 1;
      return;
    }
    if (!frames[1]) return;
    if (closing) {
      frames.length = level + 1;
      result(level, point, closing);
    } else if (level === 1) result(level, point, undefined);
    else if (!point.ok && point.todo === undefined && point.skip === undefined && frames[level])
      frames[level].failure ??= failureOfPoint(point.name, point.diagnostic);
  }

  return {
    line(text) {
      const indent = text.length - text.trimStart().length;
      if (yaml) {
        if (text.trim() === '...' && indent <= yaml.indent) {
          if (last) last.diagnostic = readYaml(yaml.lines);
          yaml = undefined;
        } else yaml.lines.push(text);
        return;
      }
      const body = text.trim();
      if (body === '---' && last && indent === last.level * 4 + 2) {
        yaml = { indent, lines: [] };
        return;
      }
      const level = indent / 4;
      if (body === '{' && last && level === last.level) {
        blocks.push(last);
        open(level, last.name);
        last = undefined;
        return;
      }
      finish();
      if (!Number.isInteger(level)) return;
      if (body === '}' && blocks.at(-1)?.level === level) {
        last = blocks.pop();
        finish();
        return;
      }
      const subtest = /^# Subtest: (.*)$/.exec(body);
      if (subtest) {
        if (level < frames.length) open(level, unescaped(plain(subtest[1])));
        return;
      }
      const match = /^(not )?ok\b(?: \d+)?(?: - )?(.*?)(?: # time=([\d.]+)ms)?( \{)?$/.exec(body);
      if (!match || level >= frames.length) return;
      const directive = /^(.*?)(?:^|\s)# (SKIP|TODO)\b\s*(.*)$/i.exec(match[2]);
      const kind = directive?.[2].toLowerCase();
      last = {
        level,
        ok: match[1] === undefined,
        name: unescaped(plain(directive ? directive[1] : match[2]).trim()),
        ms: Number(match[3] ?? 0),
        diagnostic: {},
        ...(kind === 'skip' && { skip: directive[3] }),
        ...(kind === 'todo' && { todo: directive[3] }),
      };
      if (match[4]) {
        blocks.push(last);
        open(level, last.name);
        last = undefined;
      }
    },
    end: finish,
  };
}

const unescaped = (name) => name.replace(/\\([#\\])/g, '$1');

module.exports = { createParser };
