// What the reporters for JavaScript runners share: lines on descriptor 3 (see ../report.ts for their
// shape), paths, frames and values. Paths are relative to the working directory, the project's folder.
const { createWriter, takeKey } = require('./seal.asset.cjs');
const { MAX_FRAMES, MAX_TEXT, createRelative, cut, shown, values } = require('./tell.asset.cjs');

const REPORT_FD = 3;
const relative = createRelative(process.cwd());
const key = takeKey();
const write = createWriter(REPORT_FD, key);

/** For a process that takes this one's place before anything was written. */
const handOver = (child) => child.stdin.end(key);

/**
 * Code under test finds loaded modules and what they export. What writes with a seal must not be
 * among that: called when all of ours is loaded, and nothing else yet.
 */
function lock() {
  for (const name of Object.keys(module.exports)) delete module.exports[name];
}

const plain = (text) => String(text ?? '').replace(/\x1b\[[0-9;?]*[ -/]*[@-~]/g, '');

const ANONYMOUS =
  /<anonymous>|^(?:Test|Suite|Context|Hook|Runnable|Promise|process|node|Harness)\b|^Object$|__vite_ssr|^eval$/;

function framesOf(stack) {
  const frames = [];
  for (const line of plain(stack).split('\n')) {
    const match =
      /^\s*(?:at|❯) (?:async )?(?:(.*?) \()?((?:file:\/\/)?\/[^()]*?|[A-Za-z]:\\[^()]*?):(\d+):(\d+)\)?$/.exec(
        line,
      );
    if (!match) continue;
    const name = match[1]
      ?.replace(/^new /, '')
      .replace(/ \[as .*\]$/, '')
      .replace(/^(?:Object|Module|Function|exports|module\.exports)\./, '');
    const isNamed = name && !ANONYMOUS.test(name);
    frames.push({
      file: relative(match[2]),
      line: Number(match[3]),
      column: Number(match[4]),
      ...(isNamed ? { function: name } : {}),
    });
    if (frames.length >= MAX_FRAMES) break;
  }
  return frames;
}

const isNegated = (operator) =>
  /^(?:not|doesNot|ifError|fail|throws|rejects)/i.test(String(operator ?? ''));

/** Chai's own words (vitest has them too): the values in short, which say nothing more than the values. */
const isGenerated = (text) =>
  /^expected [\s\S]* to (?:be|equal|(?:deeply|strictly|loosely|deep) equal)\b/.test(text);
/** Comparisons of size name both values; as `expected` and `actual` they would mislead. */
const comparesSize = (text) =>
  /^expected [\s\S]* to (?:be (?:above|below|at least|at most|within|greater|less|close)|have (?:a )?length (?:above|below|at|within))\b/.test(
    text,
  );

/** Values of an assertion that compares for equality; {} for others. */
function comparison(error) {
  const comparable =
    error.code === 'ERR_ASSERTION' ||
    ('expected' in error && 'actual' in error && /Assert/i.test(String(error.name)));
  if (!comparable || error.showDiff === false) return {};
  if (!('expected' in error) || !('actual' in error) || isNegated(error.operator)) return {};
  const text = plain(error.message);
  if (comparesSize(text) || /^expected [\s\S]* (?:to not|not to) /.test(text)) return {};
  return values(error.expected, error.actual);
}

/** `TypeError: no list`; of an assertion its text alone, without the difference that node appends. */
function messageOf(error) {
  const text = plain(error.message).replace(/\n+\+ actual - expected[\s\S]*$/, '');
  const name = plain(error.name ?? 'Error');
  if (error.code === 'ERR_ASSERTION' && error.generatedMessage) {
    if (error.operator === '==' && / == /.test(text)) return 'Expected values to be loosely equal';
    return text.replace(/:?(?:\n\n?|$)[\s\S]*$/, (rest) =>
      /^:?\n\n? *assert/.test(rest) ? rest : '',
    );
  }
  if (error.code === 'ERR_ASSERTION' || /^AssertionError/.test(name)) return text.trim() || name;
  return text === '' ? name : `${name}: ${text}`;
}

/** The failure of an error object, or of anything else that was thrown. */
function failureOf(error) {
  if (error === null || (typeof error !== 'object' && typeof error !== 'function')) {
    const text = typeof error === 'string' ? error : `thrown: ${shown(error)}`;
    return { message: cut(text || 'failed without an error'), frames: [], details: cut(text) };
  }
  const isError = 'message' in error || 'stack' in error;
  if (!isError) {
    const text = `thrown: ${shown(error)}`;
    return { message: cut(text), frames: [], details: cut(text) };
  }
  const compared = comparison(error);
  const text = messageOf(error);
  const says = compared.expected !== undefined && isGenerated(text);
  return {
    message: cut(says ? 'Expected values to be equal' : text),
    ...compared,
    frames: framesOf(error.stack),
    details: cut(plain(error.stack ?? error.message), 2 * MAX_TEXT),
  };
}

/** What remains of a stack when its frames are taken off. */
const headOf = (stack) =>
  plain(stack)
    .split(/\n\s+at /)[0]
    .trim();

/** Tests of one name are told apart by `#2`, `#3` in the order in which they are asked for here. */
function createNames() {
  const counts = new Map();
  return (id) => {
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    return count === 1 ? id : `${id} #${count}`;
  };
}

module.exports = {
  createNames,
  cut,
  failureOf,
  framesOf,
  handOver,
  headOf,
  isGenerated,
  lock,
  messageOf,
  plain,
  relative,
  shown,
  values,
  write,
};
