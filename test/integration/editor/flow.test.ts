import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type * as vscode from 'vscode';
import { readTrajectory } from '../../../src/core/trajectories/reader.ts';
import { CONTEXT_KEYS } from '../../../src/editor/contract/context-keys.ts';
import { requestToChoose } from '../../../src/editor/fix/cursor.ts';
import type { WorkDeps } from '../../../src/editor/fix/deps.ts';
import { fixTests } from '../../../src/editor/fix/fix-flow.ts';
import { readFixRequest } from '../../../src/editor/fix/request.ts';
import { runTestsCommand } from '../../../src/editor/fix/run-tests.ts';
import { createRuns } from '../../../src/editor/fix/runs.ts';
import { createLiveView, type LiveView } from '../../../src/editor/live/live-view.ts';
import { createKeys } from '../../../src/editor/policies/keys.ts';
import type { FixReviewInput } from '../../../src/editor/ports.ts';
import { createStatusBar } from '../../../src/editor/status/status-bar.ts';
import { createCodeLenses } from '../../../src/editor/tests/code-lenses.ts';
import { createFailingFilesKey } from '../../../src/editor/tests/failing-files-key.ts';
import { createFailureDiagnostics } from '../../../src/editor/tests/failure-diagnostics.ts';
import { createKnownTests } from '../../../src/editor/tests/known-tests.ts';
import { createTestPublisher } from '../../../src/editor/tests/publish.ts';
import {
  createFakeContext,
  createFakeVs,
  type FakeVs,
  type FakeVsOptions,
} from '../../support/fake-vs.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';
import { ADD } from '../cli/projects.ts';

interface Opened {
  readonly fake: FakeVs;
  readonly root: string;
  readonly live: LiveView;
  readonly reviews: FixReviewInput[];
  fix(): Promise<void>;
  fixTest(...args: readonly unknown[]): Promise<void>;
  runTests(): Promise<void>;
}

/** The flow over a real repository, with the real core; only the editor is a stand-in. */
async function open(
  files: Readonly<Record<string, string>>,
  options: Omit<FakeVsOptions, 'folders'> = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<Opened> {
  const folder = await tempFolder();
  const root = join(folder, 'project');
  await writeFiles(root, files);
  const fake = createFakeVs({ folders: [root], ...options });
  const { vs } = fake;
  const { context } = createFakeContext(folder);
  const runs = createRuns(vs);
  onTestFinished(() => runs.stop());
  const known = createKnownTests(vs);
  const publisher = createTestPublisher(vs);
  const live = createLiveView(vs);
  const reviews: FixReviewInput[] = [];
  createFailureDiagnostics(vs, known);
  createFailingFilesKey(vs, known);
  createCodeLenses(vs, known);
  createStatusBar(vs, runs);
  const deps: WorkDeps = {
    vs,
    log: vs.window.createOutputChannel('test', { log: true }),
    runs,
    keys: createKeys(context.secrets),
    environment: {
      PATH: process.env.PATH,
      HOME: folder,
      PRIME_AGENT_HOME: join(folder, 'state'),
      ...variables,
    },
    memento: context.workspaceState,
    publish(where, report) {
      known.set(where, report.results);
      publisher.publish(where, report);
    },
    attempts: live,
    review: { open: async (input) => void reviews.push(input) },
    transcript: { open: async () => undefined },
  };
  return {
    ...{ fake, root, live, reviews },
    fix: () => fixTests(deps, requestToChoose(vs, undefined)),
    fixTest: (...args) => fixTests(deps, readFixRequest(vs, args)),
    runTests: () => runTestsCommand(deps),
  };
}

describe('Fix failing test', () => {
  it('goes from a choice to a review with its evidence; attempts can be watched', async () => {
    const { fake, root, live, reviews, fix } = await open(ADD);
    fake.user.pick = (items) => items;
    fake.user.answer = () => 'Review';
    await fix();
    expect(fake.messages).toMatchObject([
      {
        level: 'information',
        text: 'The test passes with a change that is ready for review.',
        actions: ['Review', 'Show Transcript', 'Show Log'],
      },
    ]);
    await expect.poll(() => reviews).toHaveLength(1);
    const [review] = reviews;
    expect(review).toMatchObject({
      outcome: 'solved',
      patch: expect.stringContaining('+  return a + b;'),
      files: [{ path: 'src/add.js', status: 'modified', steersTests: false, runsLater: false }],
      tests: [
        {
          id: 'test/add.test.js::adds',
          before: { status: 'failed', failure: { expected: '5', actual: '-1' } },
          after: 'passed',
        },
      ],
      stillPassing: 1,
      attempts: [{ targets: ['test/add.test.js::adds'] }],
      policy: 'edit-search',
    });
    const record = await readTrajectory(review?.attempts[0]?.trajectoryPath ?? '');
    expect(record.end).toMatchObject({ outcome: 'solved', patch: review?.patch });
    expect(await readFile(join(root, 'src/add.js'), 'utf8')).toBe(ADD['src/add.js']);

    expect(fake.terminals).toEqual([]);
    await live.watch(review?.attempts[0]?.attemptId);
    const [terminal] = fake.terminals;
    expect(terminal?.shown).toEqual([{ preserveFocus: true }]);
    expect(terminal?.text).toContain('test/add.test.js::adds');
    expect(terminal?.text).toContain('submit');
    expect(terminal?.text).toContain('Solved.');
  });

  it('shows the failure natively; a lens on it begins without a question', async () => {
    const { fake, root, reviews, runTests, fixTest } = await open(ADD);
    await runTests();
    expect(fake.messages).toMatchObject([{ text: '2 tests, 1 failing.', actions: ['Fix'] }]);
    const [run] = fake.testRuns;
    expect(run?.ended).toBe(true);
    expect(run?.results.get('test/add.test.js::adds')).toMatchObject({
      state: 'failed',
      message: { expectedOutput: '5', actualOutput: '-1' },
    });
    expect(run?.results.get('test/add.test.js::adds zero')).toMatchObject({ state: 'passed' });
    const path = join(root, 'test/add.test.js');
    expect(fake.contexts.get(CONTEXT_KEYS.failingFiles)).toEqual({ [path]: true });
    expect(fake.diagnostics.get(path)).toMatchObject([{ source: 'Prime Agent' }]);

    const { uri } = fake.openEditor(path);
    const document = await fake.vs.workspace.openTextDocument(uri as vscode.Uri);
    const { token } = new fake.vs.CancellationTokenSource();
    const [lens] = (await fake.lenses[0]?.provideCodeLenses(document, token)) ?? [];
    expect(lens).toMatchObject({
      range: { start: { line: 4 } },
      command: { title: '$(wand) Fix with Prime Agent', command: 'primeAgent.fixTest' },
    });
    fake.user.pick = () => {
      throw new Error('nothing is to be chosen');
    };
    await fixTest(...(lens?.command?.arguments ?? []));
    expect(fake.messages.at(-1)?.text).toBe(
      'The test passes with a change that is ready for review.',
    );
    expect(reviews).toEqual([]);
  });

  it('fixes tests of several projects at once', async () => {
    const inFolder = (folder: string) =>
      Object.entries(ADD).map(([path, text]) => [`${folder}/${path}`, text]);
    const files = Object.fromEntries([...inFolder('one'), ...inFolder('two')]);
    const { fake, reviews, fix } = await open(files, { settings: { 'primeAgent.parity': false } });
    fake.user.pick = (items) => items;
    fake.user.answer = () => 'Review';
    await fix();
    expect(fake.messages.map(({ text }) => text)).toEqual([
      'All 2 tests pass with a change that is ready for review.',
    ]);
    await expect.poll(() => reviews).toHaveLength(1);
    expect(reviews[0]?.files.map(({ path }) => path)).toEqual(['one/src/add.js', 'two/src/add.js']);
  });

  it('does not put a list in front of somebody who has turned to something else', async () => {
    const { fake, root, fix } = await open(ADD);
    let lists = 0;
    fake.user.pick = () => {
      lists += 1;
      return undefined;
    };
    const working = fix();
    await expect.poll(() => fake.progress).not.toEqual([]);
    fake.moveCursor(join(root, 'src/add.js'));
    await working;
    expect(fake.messages).toMatchObject([{ text: 'One test fails.', actions: ['Choose…'] }]);
    expect(lists).toBe(0);
  });

  it('says so when nothing fails', async () => {
    const fixed = { ...ADD, 'src/add.js': 'export const add = (a, b) => a + b;\n' };
    const { fake, fix } = await open(fixed);
    await fix();
    expect(fake.messages).toMatchObject([{ text: 'No test fails: 2 of 2 pass.' }]);
  });

  it('can be cancelled in the middle, and refuses to begin twice', async () => {
    const { fake, fix } = await open({
      ...ADD,
      'test/slow.test.js':
        "import test from 'node:test';\ntest('slow', () => new Promise((done) => setTimeout(done, 60_000)));\n",
    });
    const working = fix();
    await expect
      .poll(() => fake.log.join('\n'), { timeout: 60_000 })
      .toContain('Running the tests');
    await fix();
    expect(fake.messages).toMatchObject([
      { text: 'Prime Agent is at work in project already. Wait for it, or cancel it.' },
    ]);
    fake.cancelProgress();
    await working;
    expect(fake.messages).toHaveLength(1);
    expect(fake.testRuns).toEqual([]);
    expect(fake.statusBar.text).toBe('$(wand) edit-search');
  }, 60_000);

  it('can be cancelled while attempts go on, and says that nothing was changed', async () => {
    const { fake, root, fix, reviews } = await open(ADD, {
      settings: { 'primeAgent.parity': false },
    });
    fake.user.pick = (items) => items;
    const working = fix();
    await expect
      .poll(() => fake.progress.join('\n'), { timeout: 150_000, interval: 5 })
      // Two go on at once on most machines, and either may be the first.
      .toMatch(/attempt \d: turn 1/);
    fake.cancelProgress();
    await working;
    expect(fake.messages.map(({ text }) => text)).toEqual([
      'Cancelled. Nothing of yours was changed.',
    ]);
    expect(reviews).toEqual([]);
    expect(await readFile(join(root, 'src/add.js'), 'utf8')).toBe(ADD['src/add.js']);
    expect(fake.contexts.get(CONTEXT_KEYS.running)).toBe(false);
  });

  it('asks the container engine for the image of the settings, and names them as the remedy', async () => {
    const asked: string[] = [];
    // An engine with no images.
    const engine = createServer(({ url = '' }, response) => {
      asked.push(url);
      const known = /\/_ping$|\/version$|\/info$/.test(url)
        ? { Version: '20.10', OSType: 'linux' }
        : undefined;
      response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(known ?? { message: 'No such image' }));
    });
    onTestFinished(() => void engine.close());
    const socket = join(await tempFolder(), 'engine.sock');
    await once(engine.listen(socket), 'listening');
    const { fake, fix } = await open(
      ADD,
      { settings: { 'primeAgent.sandbox': 'docker', 'primeAgent.dockerImage': 'shop/tests:3' } },
      { DOCKER_HOST: `unix://${socket}` },
    );
    await fix();
    expect(asked.some((url) => url.includes('/images/shop/tests:3/json'))).toBe(true);
    expect(fake.messages).toHaveLength(1);
    const [message] = fake.messages;
    expect(message?.text).toContain(
      'The image shop/tests:3 is not on the container engine at unix://',
    );
    expect(message?.text).toContain('with primeAgent.dockerImage');
    expect(message?.text).not.toMatch(/--\w/);
    expect(message?.actions).toContain('Open Settings');
  });

  it('names the next step when the server of the policy is gone', async () => {
    const { fake, fix } = await open(ADD, {
      settings: {
        'primeAgent.policy': 'endpoint',
        'primeAgent.endpoint.baseUrl': 'http://127.0.0.1:9/v1',
      },
    });
    await fix();
    expect(fake.messages).toHaveLength(1);
    expect(fake.messages[0]?.text).toContain('127.0.0.1:9');
    expect(fake.messages[0]?.actions).toEqual(['Select Policy…', 'Show Log']);
    expect(fake.messages[0]?.text).not.toMatch(/--\w/);
    expect(fake.testRuns).toEqual([]);
  });
});
