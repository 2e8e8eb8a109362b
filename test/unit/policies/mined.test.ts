import { expect, test } from 'vitest';
import { minedTemplates } from '../../../policies/make/mined.ts';
import { generateModule } from '../../../src/core/tasks/generate/module.ts';

const FILE = `
import { sep } from 'node:path';
const LIMIT = 3;

function clamp(value, min, max) {
  if (value < min) return min;
  if (value > max) return max;
  return value;
}

export function firstWords(text) {
  const words = String(text).split(' ');
  const kept = words.slice(0, LIMIT);
  return kept.join('_');
}

function today(text) {
  const now = Date.now();
  const label = text + now;
  return label;
}

function joined(parts) {
  const all = [...parts];
  all.sort();
  return all.join(sep);
}
`;

test('functions that stand on their own become families, with what they need', () => {
  const templates = minedTemplates(FILE);
  const sources = templates.map((template) => {
    const { files, sourcePaths } = generateModule(template, 1, 0);
    return sourcePaths.map((path) => files[path]).join('');
  });
  expect(sources.map((source) => /export function (\w+)/.exec(source)?.[1])).toEqual([
    'clamp',
    'firstWords',
  ]);
  expect(sources[0]).not.toContain('LIMIT');
  // A name that is exported is one line of its own; what it needs comes along as it is.
  expect(sources[1]).toContain('const LIMIT = 3;\n\nexport function firstWords(text)');
});

test('the clock and what is imported are left alone, and the same file gives the same families', () => {
  const families = minedTemplates(FILE).map(({ family }) => family);
  expect(families).toHaveLength(2);
  expect(minedTemplates(FILE).map(({ family }) => family)).toEqual(families);
  expect(minedTemplates('const a = 1;')).toEqual([]);
  expect(minedTemplates('function f( {')).toEqual([]);
});
