import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type * as vscode from 'vscode';
import { createRedactor } from '../../../src/core/redaction/redactor.ts';
import type { HeaderLine, TrajectoryLine } from '../../../src/core/trajectories/schema.ts';
import {
  createTrajectoryStore,
  type TrajectoryStore,
} from '../../../src/core/trajectories/store.ts';
import type { AttemptNode } from '../../../src/editor/attempts-view/attempts-tree.ts';
import { createExtension } from '../../../src/editor/extension.ts';
import { createFakeContext, createFakeVs, type FakeVs } from '../../support/fake-vs.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';
import { end, header, turn } from '../../unit/core/trajectories/make.ts';
import { ADD } from '../cli/projects.ts';

/** The whole extension over real records; only the editor is a stand-in. */
interface Opened {
  readonly fake: FakeVs;
  readonly root: string;
  readonly store: TrajectoryStore;
  readonly environment: Record<string, string | undefined>;
  record(
    id: string,
    lines?: readonly TrajectoryLine[],
    head?: Partial<HeaderLine>,
  ): Promise<string>;
  /** Labels of the tree, children indented. */
  rows(): Promise<readonly string[]>;
  nodes(): Promise<readonly AttemptNode[]>;
  node(id: string): Promise<AttemptNode>;
}

async function open(): Promise<Opened> {
  const base = await tempFolder();
  const root = join(base, 'project');
  await writeFiles(root, ADD);
  const environment = { PATH: process.env.PATH, HOME: base, PRIME_AGENT_HOME: join(base, 'state') };
  const store = createTrajectoryStore(join(base, 'state', 'trajectories'));
  const fake = createFakeVs({ folders: [root] });
  const extension = createExtension(fake.vs, createFakeContext(base).context, environment);
  onTestFinished(async () => {
    await extension.stop();
    extension.dispose();
  });
  const provider = (): vscode.TreeDataProvider<AttemptNode> => {
    const tree = fake.trees.get('primeAgent.attemptsView');
    if (!tree) throw new Error('there is no such view');
    return tree.provider as vscode.TreeDataProvider<AttemptNode>;
  };
  const children = async (node?: AttemptNode) => (await provider().getChildren(node)) ?? [];
  const nodes = async (): Promise<readonly AttemptNode[]> => {
    const top = await children();
    return (await Promise.all(top.map(async (node) => [node, ...(await children(node))]))).flat();
  };
  return {
    fake,
    root,
    store,
    environment,
    nodes,
    async record(id, lines = [turn(0), end()], head = {}) {
      const redactor = createRedactor({});
      const writer = await store.create({ workspacePath: root, attemptId: id, redactor });
      await writer.append(header({ attemptId: id, startedAt: startOf(id), ...head }));
      for (const line of lines) await writer.append(line);
      await writer.close();
      return writer.path;
    },
    async rows() {
      const rows: string[] = [];
      for (const node of await nodes()) {
        const item = await provider().getTreeItem(node);
        rows.push(`${node.kind === 'attempt' ? '  ' : ''}${String(item.label)}`);
      }
      return rows;
    },
    async node(id) {
      const found = (await nodes()).find(
        (each) => each.kind === 'attempt' && each.attempt.id === id,
      );
      if (!found) throw new Error(`${id} is not in the tree`);
      return found;
    },
  };
}

/** `a-7` started seven minutes after midnight. */
function startOf(id: string): string {
  return new Date(Date.UTC(2026, 0, 2) + Number(id.slice(2)) * 60_000).toISOString();
}

function about(test: string): Partial<HeaderLine> {
  return { task: { ...header().task, targets: [`test/add.test.js::${test}`] } };
}

const FIX = `diff --git a/src/add.js b/src/add.js
index HASH..0000000000000000000000000000000000000000 100644
`;

describe('the tree of attempts', () => {
  it('shows records of the folder newest first, also those of the command line', async () => {
    const { rows, record, fake } = await open();
    expect(await rows()).toEqual([]);
    for (const [at, name] of ['one', 'two', 'three'].entries()) {
      await record(`a-${at + 1}`, undefined, about(name));
    }
    await fake.run('primeAgent.refreshAttempts');
    expect(await rows()).toEqual([expect.any(String), '  three', '  two', '  one']);
  });

  it('follows what another window or the command line writes', async () => {
    const { rows, record, fake } = await open();
    expect(await rows()).toEqual([]);
    fake.changedOnDisk(await record('a-1', [turn(0)], about('adds')));
    await expect.poll(rows).toEqual([expect.any(String), '  adds']);
  });

  it('groups by fix when asked, and remembers it', async () => {
    const { rows, record, fake } = await open();
    await record('a-1', undefined, { ...about('adds'), seriesId: 's-1' });
    await record('a-2', [turn(0), end({ outcome: 'failed', reward: 0 })], {
      ...about('adds'),
      seriesId: 's-1',
    });
    await record('a-3', undefined, { ...about('adds zero'), seriesId: 's-2' });
    expect(fake.contexts.get('primeAgent.attemptsGrouping')).toBe('day');
    await fake.run('primeAgent.groupAttemptsByFix');
    expect(fake.contexts.get('primeAgent.attemptsGrouping')).toBe('fix');
    expect(await rows()).toEqual(['adds zero', '  Solved', 'adds', '  Not solved', '  Solved']);
  });

  it('sends long lists to the window page by page, and opens no record for them', async () => {
    const { rows, record, fake } = await open();
    const path = await record('a-1', undefined, about('adds'));
    const index = join(dirname(path), '.index.jsonl');
    const [line = ''] = (await readFile(index, 'utf8')).split('\n');
    const files: Record<string, string> = {};
    let lines = '';
    for (let at = 2; at <= 250; at++) {
      // Opened, it would be listed as damaged.
      files[`a-${at}.jsonl`] = 'nonsense\n';
      lines += `${line.replace('"a-1"', `"a-${at}"`)}\n`;
    }
    await writeFiles(dirname(path), { ...files, '.index.jsonl': `${line}\n${lines}` });
    const first = await rows();
    expect(first).toHaveLength(202);
    expect(first.at(-1)).toBe('Show more (50 left)');
    expect(first).not.toContain('  Damaged');
    const tree = fake.trees.get('primeAgent.attemptsView');
    const [day] = (await tree?.provider.getChildren()) ?? [];
    const more = ((await tree?.provider.getChildren(day)) ?? []).at(-1);
    await fake.run('primeAgent.showMoreAttempts', more);
    expect(await rows()).toHaveLength(251);
  });
});

describe('on an attempt', () => {
  it('a click opens its transcript in the preview tab', async () => {
    const { fake, node, record } = await open();
    await record('a-1', undefined, about('adds'));
    await fake.run('primeAgent.openTranscript', await node('a-1'));
    expect(fake.shown.map(({ uri }) => uri.path.split('/').at(-1))).toEqual([
      'Transcript of adds.md',
    ]);
    expect(fake.shownHow).toEqual([{ preview: true }]);
    expect(fake.shown[0]?.text).toMatch(/^# Solved: adds\n/);
  });

  it('from the palette, attempts are offered', async () => {
    const { fake, record, rows } = await open();
    await fake.run('primeAgent.openTranscript');
    expect(fake.messages).toMatchObject([
      { text: 'There is no attempt yet. “Fix failing test” makes some.' },
    ]);
    await record('a-1', undefined, about('adds'));
    await fake.run('primeAgent.refreshAttempts');
    fake.user.pick = (items) => items.slice(0, 1);
    await fake.run('primeAgent.openTranscript');
    expect(fake.shown).toHaveLength(1);
    expect(await rows()).toHaveLength(2);
  });

  it('its transcript grows while it goes on', async () => {
    const { fake, node, record, store, root } = await open();
    await record('a-1');
    const redactor = createRedactor({});
    const writer = await store.create({ workspacePath: root, attemptId: 'a-2', redactor });
    await writer.append(header({ attemptId: 'a-2' }));
    await writer.append(turn(0));
    await fake.run('primeAgent.openTranscript', await node('a-2'));
    const text = (): string => fake.shown[0]?.text ?? '';
    expect(text()).toContain('## Turn 1');
    expect(text()).not.toContain('## Turn 2');
    await writer.append(turn(1));
    fake.changedOnDisk(writer.path);
    await expect.poll(text).toContain('## Turn 2');
    await writer.append(end());
    await writer.close();
    fake.changedOnDisk(writer.path);
    await expect.poll(text).toContain('## Patch');
  });

  it('what was cut is shown as a whole from its link', async () => {
    const { fake, node, record } = await open();
    const lines = Array.from({ length: 200 }, (_, at) => `line ${at}`).join('\n');
    const long = turn(0);
    const [observation] = long.observations;
    if (!observation) throw new Error('no observation');
    await record('a-1', [{ ...long, observations: [{ ...observation, content: lines }] }, end()]);
    await fake.run('primeAgent.openTranscript', await node('a-1'));
    const [document] = fake.shown;
    if (!document) throw new Error('nothing is shown');
    expect(document.text).not.toContain('line 100\n');
    const text = await fake.vs.workspace.openTextDocument(document.uri as vscode.Uri);
    const source = new fake.vs.CancellationTokenSource();
    const found = (await fake.links[0]?.provideDocumentLinks(text, source.token)) ?? [];
    expect(found).toHaveLength(1);
    const target = String(found[0]?.target?.path);
    const [, given = ''] = decodeURIComponent(String(found[0]?.target)).split('?');
    expect(target).toBe('primeAgent.showWholeTranscript');
    await fake.run(target, ...(JSON.parse(decodeURIComponent(given)) as string[]));
    expect(fake.shown[1]?.text).toContain('line 100\n');
  });

  it('a record that is gone is said to be gone', async () => {
    const { fake, node, record, store } = await open();
    await record('a-1');
    const old = await node('a-1');
    await store.remove(await store.list());
    await fake.run('primeAgent.openTranscript', old);
    expect(fake.messages[0]?.text).toContain('is gone');
  });

  it('replay asks for the same tests with the same policy', async () => {
    const { fake, node, record, root } = await open();
    const asked: unknown[] = [];
    await record('a-1', undefined, {
      ...about('adds'),
      policy: { ...header().policy, kind: 'openai', label: 'qwen', model: 'qwen3' },
    });
    const original = fake.vs.commands.executeCommand;
    Object.assign(fake.vs.commands, {
      executeCommand: async (id: string, ...args: unknown[]) => {
        if (id === 'primeAgent.fixTest') return void asked.push(...args);
        return original(id, ...args);
      },
    });
    await fake.run('primeAgent.replayAttempt', await node('a-1'));
    expect(asked).toMatchObject([
      {
        uri: { fsPath: root },
        tests: ['test/add.test.js::adds'],
        policy: { kind: 'endpoint', model: 'qwen3' },
      },
    ]);
  });

  it('replay takes the policy of then, whatever the settings say', async () => {
    const { fake, node, record } = await open();
    await record('a-1', undefined, {
      ...about('adds'),
      policy: { ...header().policy, kind: 'openai', label: 'qwen3', model: 'qwen3' },
    });
    fake.settings.set('primeAgent.policy', 'edit-search');
    fake.settings.set('primeAgent.endpoint.baseUrl', 'http://127.0.0.1:9/v1');
    await fake.run('primeAgent.replayAttempt', await node('a-1'));
    expect(fake.messages.map(({ text }) => text).join()).toContain('127.0.0.1:9');
  });

  it('delete asks first, then takes the record away', async () => {
    const { fake, node, record, rows } = await open();
    const path = await record('a-1', undefined, about('adds'));
    await record('a-2', undefined, about('adds zero'));
    const one = await node('a-1');
    await fake.run('primeAgent.deleteAttempt', one);
    expect(fake.messages).toMatchObject([
      { modal: true, text: 'Delete the record of the attempt at adds?', actions: ['Delete'] },
    ]);
    expect((await stat(path)).isFile()).toBe(true);
    fake.user.answer = () => 'Delete';
    await fake.run('primeAgent.deleteAttempt', one);
    await expect(stat(path)).rejects.toThrow(/ENOENT/);
    expect(await rows()).toEqual([expect.any(String), '  adds zero']);
  });

  it('several that are selected are deleted, exported and copied together', async () => {
    const { fake, node, record, root, rows } = await open();
    await record('a-1');
    await record('a-2');
    await record('a-3');
    const two = [await node('a-1'), await node('a-3')];
    await fake.run('primeAgent.copyAttemptId', two[0], two);
    expect(fake.clipboard).toEqual(['a-1\na-3']);
    fake.user.pick = (items) => items.filter(({ label }) => label === 'JSON Lines');
    fake.user.saveTo = ({ defaultUri }) => defaultUri?.fsPath;
    await fake.run('primeAgent.exportAttempt', two[0], two);
    const saved = (await readFile(join(root, 'a-1-2.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(saved.map((line) => JSON.parse(line).type)).toEqual([
      ...['header', 'turn', 'end'],
      ...['header', 'turn', 'end'],
    ]);
    fake.user.answer = () => 'Delete';
    await fake.run('primeAgent.deleteAttempt', two[0], two);
    expect(await rows()).toHaveLength(2);
  });

  it('export writes ATIF as JSON', async () => {
    const { fake, node, record, root } = await open();
    await record('a-1');
    fake.user.pick = (items) => items.filter(({ label }) => label === 'ATIF');
    fake.user.saveTo = ({ defaultUri }) => defaultUri?.fsPath;
    await fake.run('primeAgent.exportAttempt', await node('a-1'));
    const saved = JSON.parse(await readFile(join(root, 'a-1.atif.json'), 'utf8'));
    expect(saved).toMatchObject({ schema_version: 'ATIF-v1.7', trajectory_id: 'a-1' });
    expect(fake.messages).toMatchObject([{ level: 'information', actions: ['Open'] }]);
  });

  it('its diff is the patch itself where the files have moved on, and says so where nothing changed', async () => {
    const { fake, node, record } = await open();
    await record('a-1', [turn(0), end({ patch: `${FIX}--- a/src/add.js\n+++ b/src/add.js\n` })]);
    await record('a-2', [turn(0), end({ patch: '' })]);
    await fake.run('primeAgent.openAttemptDiff', await node('a-1'));
    expect(fake.shown[0]?.uri.path).toBe('/a-1.diff');
    await fake.run('primeAgent.openAttemptDiff', await node('a-2'));
    expect(fake.messages).toMatchObject([{ text: 'This attempt has changed nothing.' }]);
  });
});

describe('a fix in this window', () => {
  it('runs on top of the tree, becomes a record, and its diff has both sides', async () => {
    const { fake, rows, nodes, root } = await open();
    expect(await rows()).toEqual([]);
    fake.user.pick = (items) => items;
    const seen: string[] = [];
    const working = fake.run('primeAgent.fixFailingTest');
    const watching = setInterval(async () => {
      const [first] = await nodes();
      if (first?.kind === 'attempt') seen.push(first.attempt.outcome);
    }, 100);
    await working;
    clearInterval(watching);
    expect(seen).toContain('running');
    await expect.poll(async () => (await rows())[0]).toBe('Today');
    const done = (await nodes()).find(
      (node) => node.kind === 'attempt' && node.attempt.outcome === 'solved',
    );
    await fake.run('primeAgent.openAttemptDiff', done);
    const changes = fake.executed.findLast(({ id }) => id === 'vscode.changes');
    expect(changes?.args[0]).toBe('Patch of the attempt at adds');
    const [[, before, after] = []] = (changes?.args[1] ?? []) as [vscode.Uri[]];
    if (!before || !after) throw new Error('a side is missing');
    const text = async (uri: vscode.Uri) =>
      (await fake.vs.workspace.openTextDocument(uri)).getText();
    expect(await text(before)).toBe(await readFile(join(root, 'src/add.js'), 'utf8'));
    expect(await text(after)).toContain('a + b');
    expect(await readdir(root)).not.toContain('.prime-agent');
  });
});
