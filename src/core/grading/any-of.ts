/** Any of several expressions. */
export const anyOf = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => `(?:${source})`).join('|'), 'm');
