import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Framework, TestFailure } from '../../../src/core/frameworks/framework.ts';
import { misbehaving } from '../../../src/core/grading/planted.ts';
import { renderTestRun } from '../../../src/core/tools/run-tests/render.ts';
import {
  type Files,
  HANGING_TEST_MS,
  openProject,
  type Project,
  ran,
  resultOf,
  runHanging,
  statuses,
} from './support.ts';

/** What one framework makes of the same handful of situations: the rows of docs/frameworks.md. */
export interface Rows {
  readonly framework: Framework;
  readonly nodeModules?: string;
  readonly files: Files;
  /** Status of every test of the project. */
  readonly all: Readonly<Record<string, string>>;
  readonly failures: Readonly<Record<string, Partial<TestFailure>>>;
  /** First lines of what could not be loaded, with its place. */
  readonly errors: Readonly<Record<string, { readonly message: string; readonly line?: number }>>;
  /** A choice → statuses of exactly those tests. */
  readonly chosen: Readonly<Record<string, readonly string[]>>;
  /** A file whose test bodies print BODY RAN, and a test in it. */
  readonly listed: {
    readonly file: string;
    readonly id: string;
    /** Tests inside of tests are known only when those run. */
    readonly unknown?: readonly string[];
  };
  /** A process that ends while a test runs: what the rendered run must say. */
  readonly crash: { readonly files: Files; readonly says: readonly RegExp[] };
  /** How long a hanging run is given at first; the default is for runners that start slowly. */
  readonly hangMs?: number;
  /** The test that hangs makes the file `begun` just before. */
  readonly hang: {
    readonly files: (begun: string) => Files;
    readonly says: readonly RegExp[];
  };
  /** The runner does not get as far as a test. */
  readonly unusable?: { readonly files: Files; readonly says: RegExp };
  /** A healthy test file, and the same with code under test that patches assertions. */
  readonly canaries: { readonly files: Files; readonly file: string; readonly cheat: Files };
}

const HANG_MS = 15_000;

export function checkRows(rows: Rows): void {
  const { framework, nodeModules, files } = rows;
  const open = (content: Files): Promise<Project> =>
    openProject(framework, content, { nodeModules });
  const once = async <T>(content: Files, work: (project: Project) => Promise<T>): Promise<T> => {
    const project = await open(content);
    try {
      return await work(project);
    } finally {
      await project.close();
    }
  };

  describe(`${framework.label} in a project`, () => {
    let project: Project;
    beforeAll(async () => {
      project = await open(files);
    });
    afterAll(async () => {
      await project?.close();
    });

    test('run all: each test once, files that cannot be loaded apart', async () => {
      const run = ran(await project.run());
      expect(statuses(run.results)).toEqual(rows.all);
      expect(run.complete).toBe(true);
      expect(run.exitCode).not.toBe(0);
      const errors = Object.fromEntries(
        run.collectionErrors.map(({ file, message, place }) => [
          file,
          { message: message.split('\n')[0], ...(place && { line: place.line }) },
        ]),
      );
      expect(errors).toEqual(
        Object.fromEntries(
          Object.entries(rows.errors).map(([file, { message, line }]) => [
            file,
            { message: expect.stringContaining(message), ...(line !== undefined && { line }) },
          ]),
        ),
      );
      for (const [id, failure] of Object.entries(rows.failures))
        expect({ id, ...resultOf(run, id).failure }).toMatchObject({ id, ...failure });
    });

    test('list: names and files, and no test body runs', async () => {
      const { file, id } = rows.listed;
      const run = ran(await project.run([file], { listOnly: true }));
      expect(statuses(run.results)).toHaveProperty([id], 'listed');
      expect(new Set(run.results.map(({ status }) => status))).toEqual(new Set(['listed']));
      expect(run.log).not.toContain('BODY RAN');
      // What a failing hook kept from running is listed as well, in place of the suite's error.
      const known = Object.entries(rows.all)
        .filter(([test, status]) => test.startsWith(`${file}::`) && status !== 'error')
        .filter(([test]) => !rows.listed.unknown?.includes(test))
        .map(([test]) => test);
      expect(run.results.map((test) => test.id)).toEqual(expect.arrayContaining(known));
    });

    test.each(Object.entries(rows.chosen))('run one: %s', async (id, expected) => {
      const run = ran(await project.run([id]));
      expect(run.results.map(({ status }) => status)).toEqual(expected);
      for (const result of run.results) expect(result.id.startsWith(id)).toBe(true);
      expect(run.complete).toBe(true);
    });

    test('a file or test that does not exist is said, and the others run', async () => {
      const { file } = rows.listed;
      const [passing = ''] =
        Object.entries(rows.all).find(
          ([id, status]) => id.startsWith(`${file}::`) && status === 'passed',
        ) ?? [];
      const gone = file.replace(/\w+(?=\.)/, 'test_gone');
      const ids = [`${gone}::x`, `${file}::nothing`, passing];
      expect(renderTestRun(await project.run(ids), { tests: ids })).toBe(
        `1 file could not be loaded, 1 passed\n\nERROR ${gone}\n  there is no such file\n\nNot found: ${file}::nothing`,
      );
    });
  });

  test('crash: the test that ran is named', async () => {
    const text = await once(rows.crash.files, async (project) =>
      renderTestRun(await project.run()),
    );
    for (const pattern of rows.crash.says) expect(text).toMatch(pattern);
  });

  test(
    'timeout: the hanging test is named, earlier results are kept',
    async () => {
      const run = await runHanging((begun) => open(rows.hang.files(begun)), rows.hangMs ?? HANG_MS);
      expect(run.kind).toBe('timeout');
      const text = renderTestRun(run);
      expect(text).toContain('did not end in time');
      for (const pattern of rows.hang.says) expect(text).toMatch(pattern);
    },
    HANGING_TEST_MS,
  );

  const { unusable } = rows;
  if (unusable) {
    test('a runner that cannot start says why', async () => {
      const run = await once(unusable.files, (project) => project.run());
      expect(run.kind === 'crashed' ? run.reason : JSON.stringify(run)).toMatch(unusable.says);
    });
  }

  describe('planted tests', () => {
    const { file, cheat } = rows.canaries;
    const planted = framework.plantCanaries?.(file, rows.canaries.files[file] ?? '', 'x0123abc');
    const problems = async (content: Files): Promise<readonly string[]> => {
      if (!planted) throw new Error(`nothing can be planted into ${file}`);
      const full = { ...content, [file]: planted.source };
      const run = await once(full, async (project) => ran(await project.run()));
      const own = run.results.filter(({ id }) => !id.includes('x0123abc'));
      expect(own.length).toBeGreaterThan(0);
      return misbehaving({ files: [file], ...planted }, run.results);
    };

    test('do what they must beside healthy tests', async () => {
      expect(await problems(rows.canaries.files)).toEqual([]);
    });

    test('show that assertions were patched', async () => {
      expect(await problems({ ...rows.canaries.files, ...cheat })).not.toEqual([]);
    });
  });
}
