import { describe, expect, it } from 'vitest';
import type { TestResult } from '../../../src/core/frameworks/framework.ts';
import { chooseTests } from '../../../src/editor/fix/choose-tests.ts';
import type { FixRequest } from '../../../src/editor/fix/request.ts';
import { createFakeVs } from '../../support/fake-vs.ts';

const test = (name: string, status: TestResult['status'], line: number): TestResult => ({
  id: `test/a.test.js::${name}`,
  file: 'test/a.test.js',
  line,
  name,
  status,
  durationMs: 1,
});
const ADDS: TestResult = {
  ...test('adds', 'failed', 3),
  failure: { message: 'not equal\nmore', expected: '5', actual: '-1', details: '' },
};
const TAX: TestResult = {
  ...test('tax', 'failed', 9),
  failure: { message: 'x is not a function\n    at y', details: '' },
};
const found = {
  results: [ADDS, TAX, test('passes', 'passed', 15), test('wobbles', 'failed', 20)],
  failing: [ADDS, TAX],
  flaky: ['test/a.test.js::wobbles'],
};

function setUp() {
  const fake = createFakeVs({ folders: ['/w'] });
  const folder = fake.vs.workspace.workspaceFolders?.[0];
  if (!folder) throw new Error('unreachable');
  const uri = fake.vs.Uri.file('/w/test/a.test.js');
  const choose = (request: Partial<FixRequest>, signal = new AbortController().signal) =>
    chooseTests(fake.vs, folder, { selectors: [], ...request }, found, signal);
  return { fake, uri, choose };
}

describe('the tests to fix', () => {
  it('are offered with what went wrong; none is marked where several fail', async () => {
    const { fake, choose } = setUp();
    let offered: unknown;
    fake.user.pick = (items) => {
      offered = items;
      return items;
    };
    expect(await choose({})).toEqual({ kind: 'tests', ids: [ADDS.id, TAX.id] });
    expect(offered).toMatchObject([
      { label: 'adds', description: 'test/a.test.js', detail: 'expected 5, got -1', picked: false },
      { label: 'tax', detail: 'x is not a function', picked: false },
    ]);
  });

  it('has the one at the cursor marked', async () => {
    const { fake, uri, choose } = setUp();
    fake.user.pick = (items) => items.filter(({ picked }) => picked);
    expect(await choose({ preferred: { uri, names: [], line: 11 } })).toEqual({
      kind: 'tests',
      ids: [TAX.id],
    });
  });

  it('closes the list when the run is cancelled', async () => {
    const { fake, choose } = setUp();
    fake.user.pick = () => new Promise(() => undefined);
    const stop = new AbortController();
    const choosing = choose({}, stop.signal);
    stop.abort();
    expect(await choosing).toEqual({ kind: 'none' });
  });

  it('are not asked for when they are named', async () => {
    const { uri, choose } = setUp();
    const selectors = [{ uri, id: ADDS.id, names: [] }];
    expect(await choose({ selectors })).toEqual({ kind: 'tests', ids: [ADDS.id] });
  });

  it.each([
    ['passes', '“passes” passes in the sandbox.'],
    ['wobbles', '“wobbles” fails only sometimes, so there is nothing to check a fix by.'],
    ['gone', 'The test run has no test “gone”. Save the file, or choose from the failing tests.'],
  ])('%s: says why there is nothing to do', async (name, text) => {
    const { uri, choose } = setUp();
    expect(await choose({ selectors: [{ uri, names: [name] }] })).toEqual({
      kind: 'nothing',
      text,
    });
  });
});
