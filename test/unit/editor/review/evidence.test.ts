import { describe, expect, it } from 'vitest';
import type * as vscode from 'vscode';
import type { FixReviewInput } from '../../../../src/editor/ports.ts';
import { renderEvidence } from '../../../../src/editor/review/evidence.ts';
import type { Review } from '../../../../src/editor/review/model.ts';
import { createFakeVs } from '../../../support/fake-vs.ts';

const { vs } = createFakeVs();

function evidence(given: Partial<FixReviewInput>, more: Partial<Review> = {}): string {
  const input: FixReviewInput = {
    id: 'a',
    folder: { uri: vs.Uri.file('/shop'), name: 'shop', index: 0 } as vscode.WorkspaceFolder,
    outcome: 'solved',
    patch: '',
    files: [],
    summary: '',
    tests: [],
    stillPassing: 3,
    flags: [],
    attempts: [],
    policy: 'edit-search',
    ...given,
  };
  const review: Review = {
    ...{ id: 'a', input, title: 'Review: adds', files: [], confirmed: false, rerun: undefined },
    ...more,
  };
  return renderEvidence(vs, review);
}

describe('the summary of a review', () => {
  it('says what was and what is, with the assertion', () => {
    const text = evidence({
      tests: [
        {
          id: 'test/a.js::adds',
          file: 'test/a.js',
          before: {
            status: 'failed',
            failure: { message: 'no', expected: '5', actual: '-1', details: '' },
          },
          after: 'passed',
        },
        {
          id: 'test/a.js::other',
          file: 'test/a.js',
          before: { status: 'error' },
          after: 'failed',
          reason: 'no attempt solved it',
        },
      ],
    });
    expect(text).toContain(
      '- **test/a.js::adds**: failed → **passes**\n\n  ```text\n  expected: 5\n  actual: -1\n  ```',
    );
    expect(text).toContain('error → **still fails**\n\n  no attempt solved it');
    expect(text).toContain('still pass: 3.');
  });

  it('warns of a change that passes only with its tests, and of what grading flagged', () => {
    const text = evidence({
      outcome: 'solved_with_test_changes',
      flags: [{ rule: 'exit', file: 'a.js', line: 3, explanation: 'ends the process' }],
    });
    expect(text).toContain('**solved only with changes to tests**');
    expect(text).toContain('Look at these files first.');
    expect(text).toContain('- a.js:3: ends the process');
  });

  it('shows what a policy wrote as text, never as markup', () => {
    const text = evidence({ summary: '# Done <img src=x>\n[click](command:evil) ``` `x`' });
    expect(text).toContain('> \\# Done \\<img src=x\\>\n> \\[click\\]\\(command:evil\\)');
    expect(text).not.toMatch(/(?<!\\)<img/);
  });

  it('says what the tests did in the workspace', () => {
    expect(evidence({}, { rerun: { passed: 2, failed: [] } })).toContain('all 2 pass.');
    expect(evidence({}, { rerun: { passed: 0, failed: ['x'] } })).toContain('these fail: x.');
    expect(evidence({}, { rerun: 'running' })).not.toContain('In the workspace');
  });
});
