import { describe, expect, test } from 'vitest';
import {
  fileOf,
  insideProject,
  isAnyChosen,
  isChosen,
} from '../../../src/core/frameworks/select.ts';

describe('choosing tests', () => {
  test.each([
    ['a.test.js::x', 'a.test.js::x'],
    ['a.test.js::suite > x', 'a.test.js::suite'],
    ['a.test.js::suite > x', 'a.test.js'],
    ['t/a.test.js::x', 't'],
    ['test_a.py::test_b[1-2]', 'test_a.py::test_b'],
    ['test_a.py::TestC::test_b', 'test_a.py::TestC'],
  ])('%s belongs to %s', (id, wanted) => {
    expect(isChosen(id, wanted)).toBe(true);
  });

  test.each([
    ['a.test.js::xy', 'a.test.js::x'],
    ['a.test.jsx::x', 'a.test.js'],
    ['a.test.js::x #2', 'a.test.js::x'],
    ['a.test.js::x[1]', 'a.test.js::x'],
    ['a.test.js::x/y', 'a.test.js::x'],
    ['test_a.py::test_bc', 'test_a.py::test_b'],
  ])('%s does not belong to %s', (id, wanted) => {
    expect(isChosen(id, wanted)).toBe(false);
  });

  test('no choice means all', () => {
    expect(isAnyChosen('a::b', [])).toBe(true);
    expect(isAnyChosen('a::b', ['c'])).toBe(false);
  });

  test('ids lose the folder of their project', () => {
    expect(insideProject(['p/a/t.js::x', 'p/ab/t.js'], 'p/a')).toEqual(['t.js::x', 'p/ab/t.js']);
    expect(fileOf('p/t.js::a::b')).toBe('p/t.js');
  });
});
