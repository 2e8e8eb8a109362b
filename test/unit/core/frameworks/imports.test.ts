import { describe, expect, it } from 'vitest';
import { importsOf, isTestPath, specifiersOf } from '../../../../src/core/frameworks/imports.ts';

const files = new Set([
  'src/a.js',
  'src/b.ts',
  'src/lib/index.ts',
  'src/util/dates.ts',
  'packages/core/src/index.ts',
  'pkg/__init__.py',
  'pkg/money.py',
  'pkg/sub/__init__.py',
  'pkg/sub/tax.py',
  'src/shop/cart.py',
]);

describe('imports of JavaScript and TypeScript', () => {
  it.each([
    ["import { a } from '../src/a.js';", ['src/a.js']],
    ["import '../src/a';", ['src/a.js']],
    ["const { a } = require('../src/a');", ['src/a.js']],
    ["export * from '../src/b.js';", ['src/b.ts']],
    ["const x = await import('../src/lib');", ['src/lib/index.ts']],
    ["import d from '@/util/dates';", ['src/util/dates.ts']],
    ["import c from '@me/core';", ['packages/core/src/index.ts']],
    ["import fs from 'node:fs'; import z from 'zod';", []],
    ["import {\n  a,\n} from '../src/a.js';", ['src/a.js']],
  ])('%s', (text, expected) => {
    expect(
      importsOf('test/x.test.js', text, files, new Map([['@me/core', 'packages/core']])),
    ).toEqual(expected);
  });

  it('finds every way of naming a module', () => {
    expect(
      specifiersOf(
        "import a from 'a'; import 'b'; export { c } from \"c\"; require('d'); import('e')",
      ),
    ).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

describe('imports of Python', () => {
  it.each([
    ['tests/test_x.py', 'from pkg.money import round_up', ['pkg/money.py']],
    ['tests/test_x.py', 'from pkg import money', ['pkg/__init__.py', 'pkg/money.py']],
    ['tests/test_x.py', 'import pkg.sub.tax as t, os', ['pkg/sub/tax.py']],
    ['tests/test_x.py', 'from shop.cart import (\n    Cart,\n)', ['src/shop/cart.py']],
    ['pkg/__init__.py', 'from .money import x', ['pkg/money.py']],
    ['pkg/sub/tax.py', 'from ..money import x', ['pkg/money.py']],
    ['pkg/sub/tax.py', 'from .. import money', ['pkg/__init__.py', 'pkg/money.py']],
    ['tests/test_x.py', 'import math\nfrom typing import Any', []],
  ])('%s: %s', (path, text, expected) => {
    expect(importsOf(path, text, files)).toEqual(expected);
  });
});

describe('modules of Rust', () => {
  const crate = new Set([
    'src/lib.rs',
    'src/parser.rs',
    'src/shapes/mod.rs',
    'src/shapes/circle.rs',
    'tools/src/lib.rs',
    'tools/src/parser.rs',
    'tests/all.rs',
  ]);
  it.each([
    ['src/lib.rs', 'mod parser;\npub mod shapes;', ['src/parser.rs', 'src/shapes/mod.rs']],
    ['src/shapes/mod.rs', 'use crate::parser::{read, Tree};', ['src/parser.rs']],
    [
      'src/parser.rs',
      'let c = shapes::circle::area(1);',
      ['src/shapes/circle.rs', 'src/shapes/mod.rs'],
    ],
    ['tests/all.rs', 'use shop::parser;', ['src/lib.rs', 'src/parser.rs']],
    ['tools/src/lib.rs', 'mod parser;', ['tools/src/parser.rs']],
    ['src/lib.rs', 'use std::collections::HashMap;', []],
  ])('%s: %s', (path, text, expected) => {
    expect([...importsOf(path, text, crate)].sort()).toEqual(expected);
  });
});

describe('packages of Go', () => {
  const module = new Set([
    'main.go',
    'main_test.go',
    'internal/calc/calc.go',
    'internal/calc/round.go',
    'internal/calc/calc_test.go',
    'calc/calc.go',
  ]);
  it.each([
    ['main_test.go', 'package main\nimport "testing"\n', ['main.go']],
    [
      'internal/calc/calc_test.go',
      'package calc\n',
      ['internal/calc/calc.go', 'internal/calc/round.go'],
    ],
    [
      'main.go',
      'import (\n\t"fmt"\n\tc "example.com/shop/internal/calc" // sums\n)\n',
      ['internal/calc/calc.go', 'internal/calc/round.go'],
    ],
    ['main.go', 'import "example.com/shop/calc"\nvar x = f("calc")', ['calc/calc.go']],
  ])('%s: %s', (path, text, expected) => {
    expect([...importsOf(path, text, module)].sort()).toEqual(expected);
  });
});

it('tells tests from sources', () => {
  const paths = [
    'test/a.js',
    'src/a.test.ts',
    'tests/test_a.py',
    'a_test.py',
    'shop/cart_test.go',
    'conftest.py',
    'src/__tests__/a.js',
  ];
  expect(paths.filter(isTestPath)).toEqual(paths);
  expect(
    ['src/a.js', 'src/latest.js', 'contest.py', 'src/testing.ts', 'pkg/attest.py'].filter(
      isTestPath,
    ),
  ).toEqual([]);
});
