/** `12345` → `12,345`, the same on every machine. */
export function withCommas(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 match`, `2 matches`. */
export function count(value: number, one: string, many: string): string {
  return `${withCommas(value)} ${value === 1 ? one : many}`;
}

/** `text.slice`, but never between the two halves of a surrogate pair: such characters are left out. */
export function sliceWhole(text: string, start: number, end = text.length): string {
  const from = isLowSurrogate(text, start) && start > 0 ? start + 1 : start;
  return text.slice(from, isLowSurrogate(text, end) ? end - 1 : end);
}

function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}
