import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import type * as vscode from 'vscode';
import { createRedactor } from '../../../../src/core/redaction/redactor.ts';
import { parsePatch } from '../../../../src/core/snapshot/patch-format.ts';
import { runsLater } from '../../../../src/core/snapshot/runs-later.ts';
import { createTrajectoryStore } from '../../../../src/core/trajectories/store.ts';
import type { FixReviewInput, PublishedTest } from '../../../../src/editor/ports.ts';
import { hasKeptReviews } from '../../../../src/editor/review/has-kept-reviews.ts';
import {
  createReviews,
  type ReviewCommand,
  type ReviewsDeps,
} from '../../../../src/editor/review/reviews.ts';
import { createFakeContext, createFakeVs, type FakeVs } from '../../../support/fake-vs.ts';
import { tempFolder } from '../../../support/temp.ts';
import { end, header } from '../../../unit/core/trajectories/make.ts';

/** A file's bytes, what a link leads to, or undefined: no such file. */
export type Content = string | Buffer | { readonly link: string } | { readonly script: string };
export type Tree = Readonly<Record<string, Content | undefined>>;

const run = promisify(execFile);

export async function writeTree(root: string, files: Tree): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    await rm(path, { force: true, recursive: true });
    if (content === undefined) continue;
    await mkdir(dirname(path), { recursive: true });
    if (typeof content === 'string' || Buffer.isBuffer(content)) await writeFile(path, content);
    else if ('link' in content) await symlink(content.link, path);
    else {
      await writeFile(path, content.script);
      await chmod(path, 0o755);
    }
  }
}

/** What git says changed between two states of a folder. */
export async function diffOf(before: Tree, after: Tree, ...flags: string[]): Promise<string> {
  const folder = await tempFolder('prime-agent-diff-');
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) =>
    run('git', args, { cwd: folder, env, maxBuffer: 1e8 }).then(({ stdout }) => stdout);
  await git('init', '-q');
  await git('config', 'core.autocrlf', 'false');
  await writeTree(folder, before);
  await git('add', '-A', '-f');
  await git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'a', '--allow-empty');
  await writeTree(folder, after);
  await git('add', '-A', '-f');
  return git(
    'diff',
    '--cached',
    '--binary',
    '--full-index',
    ...(flags.length > 0 ? flags : ['--no-renames']),
  );
}

export interface OpenReview {
  readonly fake: FakeVs;
  readonly root: string;
  readonly input: FixReviewInput;
  /** Path of the record of the attempt. */
  readonly record: string;
  /** What the tests in the workspace say; `undefined`: they are refused. */
  results: readonly PublishedTest[] | undefined;
  readonly runs: (readonly string[])[];
  run(command: ReviewCommand, ...args: readonly unknown[]): Promise<void>;
  read(name: string): Promise<string>;
  path(name: string): string;
  /** Rows of the tree: label and description, indented. */
  rows(): Promise<readonly string[]>;
  /** The element of the row whose label begins so. */
  row(label: string): Promise<unknown>;
  /** What a file would become. */
  proposed(name: string): Promise<string>;
  commandsOf(): readonly string[];
  /** As when the window is reloaded. */
  reload(): Promise<void>;
  /** Opens the same review once more, or another one. */
  again(other?: Partial<FixReviewInput>): Promise<void>;
}

export async function openReview(
  before: Tree,
  after: Tree,
  options: Partial<FixReviewInput> & {
    readonly flags?: FixReviewInput['flags'];
    readonly diff?: string[];
    readonly now?: Tree;
  } = {},
): Promise<OpenReview> {
  const { diff = [], now = {}, ...given } = options;
  const folder = await tempFolder('prime-agent-review-');
  const root = join(folder, 'project');
  await mkdir(root);
  await writeTree(root, { ...before, ...now });
  const patch = await diffOf(before, after, ...diff);
  const fake = createFakeVs({ folders: [root] });
  const [workspaceFolder] = fake.vs.workspace.workspaceFolders ?? [];
  if (!workspaceFolder) throw new Error('no folder');
  const store = createTrajectoryStore(join(folder, 'trajectories'));
  const redactor = createRedactor({ workspacePath: root });
  const writer = await store.create({ workspacePath: root, attemptId: 'a-1', redactor });
  for (const line of [header({ attemptId: 'a-1' }), end()]) await writer.append(line);
  await writer.close();

  const later = new Set(runsLater(patch));
  const input: FixReviewInput = {
    id: 'a-1',
    folder: workspaceFolder,
    outcome: 'solved',
    patch,
    files: parsePatch(patch).map(({ path, status, binary }) => ({
      path,
      status,
      binary,
      steersTests: path.startsWith('test/'),
      runsLater: later.has(path),
    })),
    summary: 'The sign was wrong.',
    tests: [
      {
        id: 'test/add.test.js::adds',
        file: 'test/add.test.js',
        line: 3,
        before: {
          status: 'failed',
          failure: { message: 'not equal', expected: '5', actual: '-1', details: '' },
        },
        after: 'passed',
      },
    ],
    stillPassing: 4,
    flags: [],
    attempts: [
      { attemptId: 'a-1', targets: ['test/add.test.js::adds'], trajectoryPath: writer.path },
    ],
    policy: 'edit-search',
    ...given,
  };
  const state: { results: readonly PublishedTest[] | undefined } = {
    results: [{ id: 'test/add.test.js::adds', status: 'passed' }],
  };
  const runs: (readonly string[])[] = [];
  const log = fake.vs.window.createOutputChannel('test', { log: true });
  const memento = createFakeContext(folder).context.workspaceState;
  const makeReviews = () => {
    const made = createReviews(deps);
    onTestFinished(() => made.dispose());
    return made;
  };
  const deps: ReviewsDeps = {
    vs: fake.vs,
    log,
    memento,
    environment: { HOME: folder, PATH: process.env.PATH },
    testRuns: {
      async run(_folder, tests) {
        runs.push(tests);
        return state.results;
      },
    },
  };
  let reviews = makeReviews();
  await reviews.open(input);

  const tree = () => {
    const found = fake.trees.get('primeAgent.reviewView');
    if (!found) throw new Error('no tree');
    return found.provider;
  };
  const walk = async (
    element?: unknown,
    depth = 0,
  ): Promise<{ text: string; element: unknown }[]> => {
    const children = (await tree().getChildren(element)) ?? [];
    const rows: { text: string; element: unknown }[] = [];
    for (const child of children) {
      const item = (await tree().getTreeItem(child)) as vscode.TreeItem;
      const text = [item.label, item.description].filter(Boolean).join(' | ');
      rows.push({ text: `${'  '.repeat(depth)}${text}`, element: child });
      rows.push(...(await walk(child, depth + 1)));
    }
    return rows;
  };
  return {
    fake,
    root,
    input,
    record: writer.path,
    runs,
    get results() {
      return state.results;
    },
    set results(results) {
      state.results = results;
    },
    run: (command, ...args) => reviews.run(command, args),
    read: (name) => readFile(join(root, name), 'utf8'),
    path: (name) => join(root, name),
    rows: async () => (await walk()).map(({ text }) => text),
    async row(label) {
      const rows = await walk();
      const found = rows.find(({ text }) => text.trimStart().startsWith(label));
      if (!found) throw new Error(`no row ${label}:\n${rows.map(({ text }) => text).join('\n')}`);
      return found.element;
    },
    async proposed(name) {
      const uri = fake.vs.Uri.file(join(root, name)).with({
        scheme: 'prime-agent-review',
        query: 'after&a-1',
      });
      fake.documents.splice(
        0,
        fake.documents.length,
        ...fake.documents.filter((d) => String(d.uri) !== String(uri)),
      );
      return (await fake.vs.workspace.openTextDocument(uri)).getText();
    },
    again: (other) => reviews.open({ ...input, ...other }),
    async reload() {
      await reviews.settled();
      reviews.dispose();
      reviews = makeReviews();
      if (hasKeptReviews(memento)) await reviews.restore();
    },
    commandsOf: () => fake.executed.map(({ id }) => id),
  };
}
