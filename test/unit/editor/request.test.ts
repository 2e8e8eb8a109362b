import { describe, expect, it } from 'vitest';
import { readFixRequest } from '../../../src/editor/fix/request.ts';
import { createFakeVs } from '../../support/fake-vs.ts';

const { vs } = createFakeVs({ folders: ['/w'] });
const uri = vs.Uri.file('/w/tests/test_cart.py');

/** As the Python extension builds them: folders and files above, ids with absolute paths. */
const folder = { id: '/w/tests', label: 'tests', uri: vs.Uri.file('/w/tests') };
const file = { id: `${uri.path}`, label: 'test_cart.py', uri, parent: folder };
const suite = { id: `${uri.path}::TestTax`, label: 'TestTax', uri, parent: file };
const item = {
  id: `${uri.path}::TestTax::test_adds`,
  label: 'test_adds',
  uri,
  range: new vs.Range(11, 0, 12, 0),
  parent: suite,
};

const selector = { uri, id: item.id, names: ['TestTax', 'test_adds'], line: 12 };

describe('what a fix is asked for', () => {
  it.each([
    ['a test item', [item]],
    ['a message of a test', [{ test: item, message: {} }]],
    ['a selection of several items', [item, [item]]],
  ])('%s: its id, its names below the file, its line', (_, args) => {
    expect(readFixRequest(vs, args)).toEqual({ uri, selectors: [selector] });
  });

  it('a lens, a quick fix or a tree element: ids of tests', () => {
    const target = { uri, tests: ['tests/test_cart.py::test_a', 'tests/test_cart.py::test_b'] };
    const selectors = target.tests.map((id) => ({ uri, id, names: [] }));
    expect(readFixRequest(vs, [target])).toEqual({ uri, selectors });
    expect(readFixRequest(vs, [{ label: 'row', fixTarget: target }])).toEqual({ uri, selectors });
  });

  it('a policy of its own, where it is one that there is', () => {
    const target = { uri, tests: [] };
    const policy = (given: unknown) => readFixRequest(vs, [{ ...target, policy: given }]).policy;
    expect(policy({ kind: 'nano' })).toEqual({ kind: 'nano' });
    expect(policy({ kind: 'endpoint', model: 'qwen3', baseUrl: 'http://elsewhere' })).toEqual({
      kind: 'endpoint',
      model: 'qwen3',
    });
    expect([policy({ kind: 'scripted' }), policy('nano'), policy(null)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('a file without tests named: all of its tests', () => {
    expect(readFixRequest(vs, [{ uri, tests: [] }])).toEqual({
      uri,
      selectors: [{ uri, names: [] }],
    });
    expect(readFixRequest(vs, [file])).toEqual({
      uri,
      selectors: [{ uri, id: file.id, names: [] }],
    });
  });

  it.each([[[]], [[undefined]], [['text']], [[{ id: 'x' }]], [[{ uri: '/w/a.js', tests: ['x'] }]]])(
    '%j says nothing: the user chooses',
    (args) => {
      expect(readFixRequest(vs, args)).toEqual({ selectors: [] });
    },
  );
});
