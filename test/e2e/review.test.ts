import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder, writeFiles } from '../support/temp.ts';
import { type Editor, openEditor, type Theme } from './support/editor.ts';
import { keepPicture } from './support/pictures.ts';
import { startScriptedModel } from './support/scripted-model.ts';
import { ATTEMPT_PATIENCE_MS, eventually } from './support/workbench.ts';

const TOTALS = `'use strict';

/** Sum of two prices. */
exports.add = (a, b) => a - b;

exports.subtract = (a, b) => {
  const difference = a - b;
  return difference;
};

exports.isFree = (price) => {
  return price === 0;
};

/** Twise the price. */
exports.double = (price) => price * 2;
`;
const FIXED = TOTALS.replace('a - b;', 'a + b;');
const BOTH = FIXED.replace('Twise', 'Twice');
const TEST = `const test = require('node:test');
const assert = require('node:assert');
const { add, double } = require('../src/totals.js');

test('adds', () => assert.equal(add(2, 3), 5));
test('doubles', () => assert.equal(double(2), 4));
`;

interface Review extends Editor {
  readonly file: string;
  totals(): Promise<string>;
  /** A row of the review's tree, by the beginning of its label. */
  act(row: string, action: string): Promise<void>;
  /** The file in an editor, with the cursor in the line with the bug. */
  openTotals(): Promise<void>;
  picture(name: string): Promise<void>;
}

/** A project with one bug, and a model that fixes it and a comment: two changes in one file. */
async function review(options: { readonly theme?: Theme } = {}): Promise<Review> {
  const folder = join(await tempFolder('prime-agent-e2e-review-'), 'shop');
  const file = join(folder, 'src/totals.js');
  await writeFiles(folder, {
    'src/totals.js': TOTALS,
    'test/totals.test.js': TEST,
    'package.json': '{}\n',
  });
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  const command = "sed -i '4s/a - b/a + b/; s/Twise/Twice/' src/totals.js";
  const baseUrl = await startScriptedModel(command, 'add() subtracted. It adds now.');
  const editor = await openEditor({
    folder,
    ...options,
    settings: {
      'primeAgent.policy': 'endpoint',
      'primeAgent.endpoint.baseUrl': baseUrl,
      'primeAgent.endpoint.model': 'tiny',
      'primeAgent.attempts': 1,
      // In a browser the editor saves by itself.
      'files.autoSave': 'off',
    },
  });
  const { workbench, page } = editor;
  await workbench.runCommand('Prime Agent: Fix failing test');
  await workbench.quickPick.opened('Failing tests to fix');
  await workbench.quickPick.accept();
  const end = await workbench.notification('ready for review', ATTEMPT_PATIENCE_MS);
  await end.press('Review');
  await eventually(() => workbench.editors()).toContainEqual(
    expect.stringContaining('Review: adds'),
  );
  await eventually(() => workbench.tree('Review')).toContainEqual(
    expect.stringContaining('exports.add'),
  );
  return {
    ...editor,
    file,
    totals: () => readFile(file, 'utf8'),
    async act(row, action) {
      const item = await workbench.treeItem('Review', row);
      await item.hover();
      await item.locator(`.action-label[aria-label^="${action}"]`).first().click();
    },
    async openTotals() {
      const input = page.locator('.quick-input-widget .quick-input-box input');
      await page.keyboard.press('Control+p');
      await input.fill('totals.js');
      await page
        .locator('.quick-input-list .monaco-list-row', { hasText: 'totals.js' })
        .first()
        .click();
      await eventually(() => page.title()).toMatch(/^totals\.js/);
      const line = page.locator('.editor-group-container.active .view-line');
      await line
        .filter({ hasText: /exports\.add/ })
        .first()
        .click();
    },
    async picture(name) {
      await page.mouse.move(1, 1);
      await keepPicture(workbench, name);
    },
  };
}

test('accepted as a whole: the file is changed and tested, and undo takes it back', async () => {
  const { workbench, page, totals, openTotals, picture } = await review();
  // Open already, as files are that one works on.
  await openTotals();
  await workbench.runCommand('Prime Agent: Show changes');
  await eventually(async () =>
    (await workbench.diffs()).map(({ modified }) => modified).join('\n'),
  ).toContain('a + b');
  expect(await totals()).toBe(TOTALS);
  await picture('review-open');

  await workbench.runCommand('Prime Agent: Accept all changes');
  await workbench.notification('Accepted. The test passes in the workspace.', ATTEMPT_PATIENCE_MS);
  expect(await totals()).toBe(BOTH);
  await picture('review-accepted');

  await openTotals();
  await page.keyboard.press('Control+z');
  await eventually(() => workbench.editorText()).toContain('a - b;\n\nexports.subtract');
  await workbench.runCommand('File: Save');
  await eventually(totals).toBe(TOTALS);
  await eventually(() => workbench.tree('Review')).toContainEqual(
    expect.stringMatching(/exports\.add.*line 4[^a-z]*$/s),
  );
});

test('reloaded with the window: what was accepted and what is open are there again', async () => {
  const { workbench, page, totals, act } = await review();
  await act('exports.add', 'Accept change');
  await eventually(totals).toBe(FIXED);
  await page.reload();
  await workbench.ready();
  await eventually(() => workbench.tree('Review')).toContainEqual(
    expect.stringMatching(/exports\.add.*accepted/s),
  );
  await workbench.runCommand('Prime Agent: Accept all changes');
  await workbench.notification('Accepted. The test passes in the workspace.', ATTEMPT_PATIENCE_MS);
  expect(await totals()).toBe(BOTH);
});

test('discarded: nothing is changed', async () => {
  const { workbench, totals, act, picture } = await review({ theme: 'light' });
  await workbench.runCommand('Prime Agent: Show summary and tests');
  await eventually(() => workbench.editors()).toContainEqual(
    expect.stringContaining('Summary and tests'),
  );
  await picture('review-evidence');
  await act('exports.add', 'Discard change');
  await eventually(() => workbench.tree('Review')).toContainEqual(
    expect.stringContaining('discarded'),
  );
  await workbench.runCommand('Prime Agent: Discard all changes');
  await workbench.notification('Discarded. Your files are as they were.');
  expect(await totals()).toBe(TOTALS);
});

test('one change of two, with the keyboard alone', async () => {
  const { workbench, page, totals, picture } = await review();
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await workbench.runCommand('Prime Agent: Focus on Review View');
  // The rows: the review, its tests, the test, the file, its changes.
  await press('Home', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'Control+Enter');
  await eventually(totals).toBe(FIXED);
  await eventually(() => workbench.tree('Review')).toContainEqual(
    expect.stringContaining('accepted'),
  );
  await picture('review-partial');
  await press('ArrowDown');
  // The selection reaches the extension a little after the key.
  await eventually(async () => {
    await press('Delete');
    return workbench.tree('Review');
  }).toContainEqual(expect.stringContaining('discarded'));
  await workbench.notification(
    '1 of 2 changes accepted. The test passes in the workspace.',
    ATTEMPT_PATIENCE_MS,
  );
  expect(await totals()).toBe(FIXED);
});

test('an unsaved edit of the same lines is a visible conflict, and is kept', async () => {
  const { workbench, page, totals, openTotals, picture } = await review();
  await openTotals();
  await page.keyboard.press('End');
  await page.keyboard.type(' // mine');
  await eventually(() => workbench.tree('Review')).toContainEqual(
    expect.stringContaining('conflict: unsaved changes here'),
  );
  await picture('review-conflict');

  await workbench.runCommand('Prime Agent: Accept all changes');
  const conflict = await workbench.notification(
    'Nothing was changed. Your unsaved changes in src/totals.js',
  );
  expect(conflict.buttons).toContain('Accept the Others');
  expect(await workbench.editorText()).toContain('a - b; // mine');
  expect(await totals()).toBe(TOTALS);

  await conflict.press('Accept the Others');
  await workbench.notification('which has unsaved changes of yours');
  await eventually(() => workbench.editorText()).toContain('Twice');
  expect(await workbench.editorText()).toContain('a - b; // mine');
  expect(await totals()).toBe(TOTALS);
});
