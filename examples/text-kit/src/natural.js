/**
 * Natural order: "file2" before "file10". Letters are compared without case first; case decides
 * between otherwise equal strings.
 */

const CHUNK = /\d+|\D+/g;

/** @returns {number} negative, zero or positive, as for Array.prototype.sort */
export function compareNatural(a, b) {
  return compareChunks(chunks(a.toLowerCase()), chunks(b.toLowerCase())) || compareText(a, b);
}

/**
 * @template T
 * @param {readonly T[]} items not changed
 * @param {{ by?: (item: T) => string, descending?: boolean }} [options]
 * @returns {T[]}
 */
export function sortNatural(items, { by = String, descending = false } = {}) {
  const direction = descending ? -1 : 1;
  return [...items].sort((a, b) => direction * compareNatural(by(a), by(b)));
}

function chunks(text) {
  return text.match(CHUNK) ?? [];
}

function compareChunks(a, b) {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i += 1) {
    const order =
      isNumber(a[i]) && isNumber(b[i]) ? Number(a[i]) - Number(b[i]) : compareText(a[i], b[i]);
    if (order !== 0) return order;
  }
  return b.length - a.length;
}

function isNumber(chunk) {
  return chunk[0] >= '0' && chunk[0] <= '9';
}

function compareText(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
