import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type * as vscode from 'vscode';
import { CONTEXT_KEYS } from '../../../src/editor/contract/context-keys.ts';
import { createExtension } from '../../../src/editor/extension.ts';
import {
  createFakeContext,
  createFakeVs,
  type FakeVs,
  type FakeVsOptions,
} from '../../support/fake-vs.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';
import { ADD } from '../cli/projects.ts';

/** The whole extension over a real repository, with the real core; only the editor is a stand-in. */
async function open(
  files: Readonly<Record<string, string>>,
  options: Omit<FakeVsOptions, 'folders'> = {},
): Promise<{ fake: FakeVs; root: string; state: string }> {
  const folder = await tempFolder();
  const root = join(folder, 'project');
  const state = join(folder, 'state');
  await writeFiles(root, files);
  const fake = createFakeVs({ folders: [root], ...options });
  const { context } = createFakeContext(folder);
  const extension = createExtension(fake.vs, context, {
    PATH: process.env.PATH,
    HOME: folder,
    PRIME_AGENT_HOME: state,
  });
  onTestFinished(async () => {
    await extension.stop();
    extension.dispose();
  });
  return { fake, root, state };
}

/** Takes everything that is offered, and answers messages with the first of these that they have. */
function eager(fake: FakeVs, ...answers: readonly string[]): void {
  fake.user.pick = (items) => items;
  fake.user.answer = ({ actions }) => answers.find((answer) => actions.includes(answer));
}

const settled = (fake: FakeVs, text: string | RegExp) =>
  expect
    .poll(() => fake.messages.map((message) => message.text).join('\n'), { timeout: 60_000 })
    .toMatch(text);

describe('Fix failing test', () => {
  it('goes from the palette to a patch that is applied; attempts can be watched', async () => {
    const { fake, root } = await open(ADD);
    eager(fake, 'Review', 'Apply');
    await fake.run('primeAgent.fixFailingTest');
    await settled(fake, 'Applied. The tests pass in the workspace.');
    expect(fake.messages.map(({ level, text, actions }) => [level, text, actions])).toEqual([
      [
        'information',
        'The test passes with a change that is ready for review.',
        ['Review', 'Show Transcript', 'Show Log'],
      ],
      [
        'information',
        'This change to src/add.js makes the tests pass. Apply it?',
        ['Apply', 'Discard'],
      ],
      ['information', 'Applied. The tests pass in the workspace.', []],
    ]);
    expect(await readFile(join(root, 'src/add.js'), 'utf8')).toContain('return a + b;');
    expect(fake.documents.filter(({ isDirty }) => isDirty)).toEqual([]);

    expect(fake.terminals).toEqual([]);
    await fake.run('primeAgent.watchAttempt');
    const [terminal] = fake.terminals;
    expect(terminal?.shown).toEqual([{ preserveFocus: true }]);
    expect(terminal?.text).toContain('test/add.test.js::adds');
    expect(terminal?.text).toContain('submit');
    expect(terminal?.text).toContain('Solved.');

    await fake.run('primeAgent.fixFailingTest');
    expect(fake.messages.at(-1)?.text).toBe('No test fails: 2 of 2 pass.');
  });

  it('shows the failure natively and changes nothing by itself; a lens on it begins a fix', async () => {
    const { fake, root } = await open(ADD);
    const offered: vscode.QuickPickItem[][] = [];
    fake.user.pick = (items) => {
      offered.push([...items]);
      return undefined;
    };
    await fake.run('primeAgent.fixFailingTest');
    expect(offered).toMatchObject([
      [{ label: 'adds', description: 'test/add.test.js', picked: true }],
    ]);
    expect(fake.messages).toEqual([]);
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
      command: { title: '$(wand) Fix with Prime Agent' },
    });
    await fake.run(lens?.command?.command ?? '', ...(lens?.command?.arguments ?? []));
    expect(fake.messages).toMatchObject([
      { text: 'The test passes with a change that is ready for review.' },
    ]);
    expect(offered).toHaveLength(1);
    expect(await readFile(join(root, 'src/add.js'), 'utf8')).toBe(ADD['src/add.js']);
  });

  it('can be cancelled in the middle, and refuses to begin twice', async () => {
    const { fake } = await open({
      ...ADD,
      'test/slow.test.js':
        "import test from 'node:test';\ntest('slow', () => new Promise((done) => setTimeout(done, 20_000)));\n",
    });
    const working = fake.run('primeAgent.fixFailingTest');
    await expect
      .poll(() => fake.log.join('\n'), { timeout: 30_000 })
      .toContain('Running the tests');
    await fake.run('primeAgent.fixFailingTest');
    expect(fake.messages).toMatchObject([
      { text: 'Prime Agent is at work in project already. Wait for it, or cancel it.' },
    ]);
    const began = Date.now();
    fake.cancelProgress();
    await working;
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(fake.messages).toHaveLength(1);
    expect(fake.statusBar.text).toBe('$(wand) edit-search');
  });

  it('names the next step when the server of the policy is gone', async () => {
    const { fake } = await open(ADD, {
      settings: {
        'primeAgent.policy': 'endpoint',
        'primeAgent.endpoint.baseUrl': 'http://127.0.0.1:9/v1',
      },
    });
    await fake.run('primeAgent.fixFailingTest');
    expect(fake.messages).toHaveLength(1);
    expect(fake.messages[0]?.text).toContain('127.0.0.1:9');
    expect(fake.messages[0]?.text).not.toMatch(/--\w/);
    expect(fake.testRuns).toEqual([]);
  });
});
