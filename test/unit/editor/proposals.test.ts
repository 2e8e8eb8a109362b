import { describe, expect, it } from 'vitest';
import type { AttemptReport } from '../../../src/core/fix/attempt.ts';
import type { FixReport } from '../../../src/core/fix/fix.ts';
import type { PreparedProject } from '../../../src/core/fix/prepare.ts';
import type { TargetReport } from '../../../src/core/fix/rounds.ts';
import { nodeTest } from '../../../src/core/frameworks/node-test/node-test.ts';
import type { BaselineOutcome, GradeReport } from '../../../src/core/grading/types.ts';
import type { WorkDeps } from '../../../src/editor/fix/deps.ts';
import { tellEnding } from '../../../src/editor/fix/ending.ts';
import { proposalsOf } from '../../../src/editor/fix/proposals.ts';
import type { FixReviewInput } from '../../../src/editor/ports.ts';
import { createFakeVs } from '../../support/fake-vs.ts';

const diff = (path: string): string =>
  `diff --git a/${path} b/${path}\nindex ${'1'.repeat(40)}..${'2'.repeat(40)} 100644\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`;

const grade = (more: Partial<GradeReport> = {}): GradeReport => ({
  verdict: 'passed',
  strict: { passed: true, unsolved: [], broken: [], canaries: [], explanation: '' },
  reverted: [],
  flags: [],
  durationMs: 1,
  ...more,
});

function attempt(
  attemptId: string,
  outcome: 'solved' | 'solved_with_test_changes' | 'failed',
  patch: string,
  graded: GradeReport = grade(),
): AttemptReport {
  return {
    attemptId,
    row: { outcome, reward: 0, inGroupMean: true, inGradient: true, reason: 'no luck' },
    end: { kind: 'submitted' },
    patch,
    summary: `summary of ${attemptId}`,
    grade: graded,
    totals: { turns: 1, promptTokens: 0, completionTokens: 0 },
    effort: { edits: 0, testRuns: 0, tries: 0 },
    durationMs: 1,
    endedAt: '',
  };
}

function target(id: string, more: Partial<TargetReport> = {}): TargetReport {
  const file = id.split('::', 1)[0] ?? id;
  return {
    target: { id, file, line: 3, name: id, status: 'failed', durationMs: 1 },
    framework: 'node:test',
    attempts: more.best ? [more.best] : [],
    ...more,
  };
}

const baselines = new Map([
  [
    { setup: { framework: nodeTest } } as unknown as PreparedProject,
    {
      kind: 'baseline',
      baseline: { passing: ['t.test.js::p', 't.test.js::q'] },
    } as unknown as BaselineOutcome,
  ],
]);

const A = 'test/a.test.js::a';
const B = 'test/b.test.js::b';
const C = 'test/c.test.js::c';
const cheat = attempt('x3', 'solved_with_test_changes', diff('test/c.test.js'), {
  ...grade({ verdict: 'passed_with_test_changes', reverted: ['test/c.test.js'] }),
  strict: {
    ...grade().strict,
    broken: [{ id: 't.test.js::p', status: 'failed' }],
  },
  asSubmitted: grade().strict,
});

const report: FixReport = {
  targets: [
    target(A, { best: attempt('x1', 'solved', diff('src/a.js')) }),
    target(B, { solvedBy: A }),
    target(C, { best: cheat }),
  ],
  patch: diff('src/a.js') + diff('.github/workflows/ci.yml'),
  verification: [grade()],
  solved: [A, B],
  unsolved: [{ id: C, reason: 'solved only with changes to tests or configuration' }],
  flaky: [],
};

const fake = createFakeVs({ folders: ['/w'] });
const [folder] = fake.vs.workspace.workspaceFolders ?? [];
if (!folder) throw new Error('unreachable');
const recordOf = (id: string): string => `/records/${id}.jsonl`;
const context = { folder, policy: 'edit-search', baselines, recordOf };

describe('what a fix proposes', () => {
  const [solved, withTests] = proposalsOf(report, context);

  it('is first everything that is solved, with its evidence', () => {
    expect(solved).toMatchObject({
      id: 'x1',
      outcome: 'solved',
      patch: report.patch,
      summary: 'summary of x1',
      policy: 'edit-search',
      stillPassing: 2,
      files: [
        { path: 'src/a.js', status: 'modified', steersTests: false, runsLater: false },
        { path: '.github/workflows/ci.yml', runsLater: true },
      ],
      tests: [
        { id: A, line: 3, before: { status: 'failed' }, after: 'passed' },
        { id: B, after: 'passed' },
        { id: C, after: 'failed', reason: expect.stringContaining('only with changes') },
      ],
      attempts: [{ attemptId: 'x1', targets: [A, B], trajectoryPath: '/records/x1.jsonl' }],
    });
  });

  it('is then each patch that needs its changes to tests', () => {
    expect(withTests).toMatchObject({
      id: 'x3',
      outcome: 'solved_with_test_changes',
      patch: diff('test/c.test.js'),
      // As submitted nothing is broken: that is what would be applied.
      stillPassing: 2,
      files: [{ path: 'test/c.test.js', steersTests: true }],
      tests: [{ id: C, after: 'passed' }],
    });
  });

  it('is nothing where nothing was found', () => {
    const failed = { ...report, solved: [], targets: [target(A, { best: undefined })] };
    expect(proposalsOf(failed, context)).toEqual([]);
  });
});

describe('the message at the end', () => {
  async function tell(outcome: Parameters<typeof tellEnding>[2]) {
    const { vs, messages } = createFakeVs({ folders: ['/w'] });
    const opened: FixReviewInput[] = [];
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const deps = {
      vs,
      log,
      review: { open: async (input: FixReviewInput) => void opened.push(input) },
      transcript: { open: async () => undefined },
    } as unknown as WorkDeps;
    const proposals = outcome.kind === 'done' ? proposalsOf(outcome.report, context) : [];
    tellEnding(deps, folder as never, outcome, proposals, recordOf);
    const [message] = messages;
    return message;
  }
  const done = (more: Partial<FixReport>) => tell({ kind: 'done', report: { ...report, ...more } });

  it('says how many pass, and leads to the review', async () => {
    expect(await done({})).toMatchObject({
      level: 'information',
      text: '2 of 3 failing tests pass with a change that is ready for review.',
      actions: ['Review', 'Show Transcript', 'Show Log'],
    });
    expect(await done({ unsolved: [] })).toMatchObject({
      text: 'All 2 tests pass with a change that is ready for review.',
    });
    expect(await done({ unsolved: [], solved: [A] })).toMatchObject({
      text: 'The test passes with a change that is ready for review.',
    });
  });

  it('warns where only changes to tests helped', async () => {
    const targets = report.targets.slice(2);
    expect(await done({ solved: [], targets })).toMatchObject({
      level: 'warning',
      text: expect.stringContaining('Solved only with changes to tests or configuration.'),
      actions: ['Review', 'Show Transcript', 'Show Log'],
    });
  });

  it('says why nothing was solved, and offers another policy', async () => {
    const best = attempt('x1', 'failed', '');
    const unsolved = [{ id: A, reason: 'all turns were used' }];
    expect(
      await done({ solved: [], unsolved, targets: [target(A, { attempts: [best] })] }),
    ).toMatchObject({
      level: 'warning',
      text: `Not solved in w. ${A}: all turns were used.`,
      actions: ['Select Policy…', 'Show Transcript', 'Show Log'],
    });
  });

  it('names what was solved before a cancel', async () => {
    expect(await tell({ kind: 'cancelled', solved: [] })).toMatchObject({
      text: 'Cancelled. Nothing of yours was changed.',
    });
    expect(await tell({ kind: 'cancelled', solved: [{ id: A, attemptId: 'x1' }] })).toMatchObject({
      text: `Cancelled. Solved before that: ${A}.`,
      actions: ['Show Transcript'],
    });
  });

  it('leads from a problem to the setting that mends it', async () => {
    expect(
      await tell({
        kind: 'problem',
        cause: 'no-tests',
        reason: 'No tests were found in /w.',
        remedy: 'For another one pass its command: --command "make test".',
      }),
    ).toMatchObject({
      level: 'error',
      text: 'No tests were found in /w. For another one set its test command in primeAgent.testCommand.',
      actions: ['Open Settings', 'Show Log'],
    });
  });
});
