import { describe, expect, it } from 'vitest';
import type { TestResult, TestStatus } from '../../../src/core/frameworks/framework.ts';
import { createFailingFilesKey } from '../../../src/editor/tests/failing-files-key.ts';
import { createFailureDiagnostics } from '../../../src/editor/tests/failure-diagnostics.ts';
import { createKnownTests } from '../../../src/editor/tests/known-tests.ts';
import { createTestPublisher } from '../../../src/editor/tests/publish.ts';
import { createFakeVs } from '../../support/fake-vs.ts';

const test = (name: string, status: TestStatus, more: Partial<TestResult> = {}): TestResult => ({
  id: `test/a.test.js::${name}`,
  file: 'test/a.test.js',
  line: 3,
  name,
  status,
  durationMs: 2,
  ...more,
});

const FAILED = test('adds', 'failed', {
  failure: {
    message: 'Expected values to be equal',
    expected: '5',
    actual: '-1',
    place: { file: 'test/a.test.js', line: 4, column: 7 },
    ownFrame: { file: 'src/add.js', line: 2, function: 'add' },
    details: 'AssertionError\n    at add',
  },
});

function setUp() {
  const fake = createFakeVs({ folders: ['/w'] });
  const folder = fake.vs.workspace.workspaceFolders?.[0];
  if (!folder) throw new Error('unreachable');
  return { fake, folder, vs: fake.vs };
}

describe('results in the Test Explorer', () => {
  it('says of every test what it did, and ends the run', () => {
    const { fake, folder, vs } = setUp();
    createTestPublisher(vs).publish(folder, {
      results: [
        FAILED,
        test('passes', 'passed'),
        test('expected to fail', 'xfailed'),
        test('skipped', 'skipped'),
        test('broken', 'error'),
      ],
      collectionErrors: [{ file: 'test/b.test.js', message: 'SyntaxError' }],
    });
    const [run] = fake.testRuns;
    expect(run?.ended).toBe(true);
    const states = [...(run?.results ?? [])].map(([id, { state }]) => [id, state]);
    expect(Object.fromEntries(states)).toEqual({
      'test/a.test.js::adds': 'failed',
      'test/a.test.js::passes': 'passed',
      'test/a.test.js::expected to fail': 'passed',
      'test/a.test.js::skipped': 'skipped',
      'test/a.test.js::broken': 'errored',
      'test/b.test.js': 'errored',
    });
  });

  it('shows a failure with both sides, its place and its frames', () => {
    const { fake, folder, vs } = setUp();
    createTestPublisher(vs).publish(folder, { results: [FAILED], collectionErrors: [] });
    expect(fake.testRuns[0]?.results.get(FAILED.id)?.message).toMatchObject({
      message: 'Expected values to be equal',
      expectedOutput: '5',
      actualOutput: '-1',
      location: { uri: { path: '/w/test/a.test.js' }, range: { start: { line: 3, character: 6 } } },
      stackTrace: [{ label: 'test/a.test.js' }, { label: 'add', uri: { path: '/w/src/add.js' } }],
    });
  });
});

describe('a file with tests that also could not be loaded in part', () => {
  it('is one item', () => {
    const { fake, folder, vs } = setUp();
    createTestPublisher(vs).publish(folder, {
      results: [test('passes', 'passed')],
      collectionErrors: [
        { file: 'test/a.test.js', message: 'SyntaxError' },
        { file: 'test/a.test.js', message: 'another' },
      ],
    });
    expect(fake.testRuns[0]?.results.get('test/a.test.js')?.state).toBe('errored');
  });
});

describe('what is known to fail', () => {
  it('gives diagnostics with a quick fix, and the key for menus; all go when it passes', async () => {
    const { fake, folder, vs } = setUp();
    const known = createKnownTests(vs);
    createFailureDiagnostics(vs, known);
    createFailingFilesKey(vs, known);
    known.set(folder, [FAILED, test('passes', 'passed')]);

    const diagnostics = fake.diagnostics.get('/w/test/a.test.js') ?? [];
    expect(diagnostics).toMatchObject([
      { message: 'adds: Expected values to be equal', range: { start: { line: 3 } } },
    ]);
    expect(fake.contexts.get('primeAgent.failingFiles')).toEqual({ '/w/test/a.test.js': true });

    const uri = vs.Uri.file('/w/test/a.test.js');
    const foreign = { ...diagnostics[0], source: 'eslint' };
    const actions = await fake.actions[0]?.provideCodeActions(
      { uri } as never,
      new vs.Range(3, 0, 3, 0),
      { diagnostics: [...diagnostics, foreign] } as never,
      new vs.CancellationTokenSource().token,
    );
    expect(actions).toMatchObject([
      {
        title: 'Fix with Prime Agent',
        command: { command: 'primeAgent.fixTest', arguments: [{ uri, tests: [FAILED.id] }] },
      },
    ]);

    known.set(folder, [test('adds', 'passed')]);
    expect(fake.diagnostics.size).toBe(0);
    expect(fake.contexts.get('primeAgent.failingFiles')).toEqual({});
    expect(known.failingIn(uri)).toEqual([]);
  });

  it('is forgotten with its folder', () => {
    const { fake, folder, vs } = setUp();
    const known = createKnownTests(vs);
    createFailureDiagnostics(vs, known);
    known.set(folder, [FAILED]);
    fake.removeFolder('/w');
    expect(known.failingFiles()).toEqual([]);
    expect(fake.diagnostics.size).toBe(0);
  });
});
