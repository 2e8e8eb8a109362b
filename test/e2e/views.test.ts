import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createRedactor } from '../../src/core/redaction/redactor.ts';
import type { TrajectoryLine } from '../../src/core/trajectories/schema.ts';
import { createTrajectoryStore } from '../../src/core/trajectories/store.ts';
import { end, header, turn } from '../unit/core/trajectories/make.ts';
import { openEditor } from './support/editor.ts';
import { copyExample } from './support/example.ts';
import { keepPicture, THEMES } from './support/pictures.ts';
import { eventually } from './support/workbench.ts';

const VIEW = 'Attempts';

test.each(THEMES)(
  'attempts show up in their view as they are recorded, open as transcripts, and are deleted ($theme)',
  async ({ theme, kind }) => {
    const folder = await copyExample('shop-cart');
    const { workbench, page, home } = await openEditor({ folder, theme });
    await page.locator(`.monaco-workbench.${kind}`).waitFor();

    await showContainer(page);
    const welcome = page.locator('.pane .welcome-view-content');
    await welcome.waitFor();
    expect(await welcome.locator('.monaco-button').allInnerTexts()).toEqual(['Fix Failing Test']);
    await keepPicture(workbench, `view-empty-${theme}`);

    // Written by somebody else, into a folder that was not there before.
    for (const record of RECORDS) await write(home, folder, record);
    await eventually(async () => (await workbench.tree(VIEW)).join('\n')).toMatch(
      /Today[\s\S]*adds shipping and tax[\s\S]*is expired at the very moment/,
    );
    const solved = await workbench.treeItem(VIEW, 'adds shipping and tax');
    expect(await solved.getAttribute('aria-label')).toMatch(
      /^Solved, adds shipping and tax, edit-search, 3 turns/,
    );
    await solved.click();
    await eventually(() => workbench.editors()).toEqual([
      expect.stringContaining('Transcript of adds shipping and tax'),
    ]);
    await eventually(() => workbench.editorText()).toContain('# Solved: adds shipping and tax');
    await keepPicture(workbench, `view-attempts-${theme}`);

    const failed = await workbench.treeItem(VIEW, 'is expired at the very moment');
    await failed.click();
    await eventually(() => workbench.editors()).toEqual([
      expect.stringContaining('Transcript of is expired at the very moment it ends'),
    ]);
    // The list itself has the focus of the keyboard; its row is the one that was clicked.
    await page.locator('.pane .monaco-list').first().focus();
    await page.keyboard.press('Delete');
    const dialog = await workbench.dialog('Delete the record of the attempt at is expired');
    await dialog.press('Delete');
    await eventually(async () => (await workbench.tree(VIEW)).join('\n')).not.toMatch(/is expired/);
  },
);

test('a long output is cut, and its link shows everything; the outline has the turns', async () => {
  const folder = await copyExample('shop-cart');
  const { workbench, page, home } = await openEditor({ folder });
  await write(home, folder, LONG);
  await workbench.runCommand('Prime Agent: Open transcript');
  await workbench.quickPick.opened('Attempt');
  await workbench.quickPick.choose('counts to two hundred');
  await eventually(() => workbench.editorText()).toContain('# Solved: counts to two hundred');

  await page.keyboard.press('Control+Shift+o');
  await eventually(() => workbench.quickPick.items()).toEqual(
    expect.arrayContaining([expect.stringContaining('Turn 1: bash: seq 200')]),
  );
  await workbench.quickPick.cancel();

  await workbench.runCommand('Prime Agent: Show everything in the transcript');
  await eventually(() => workbench.editors()).toHaveLength(1);
  await page.locator('.part.editor .monaco-editor .view-lines').first().click();
  // In the middle of what is left out before.
  await eventually(async () => {
    await page.keyboard.press('PageDown');
    return workbench.editorText();
  }).toMatch(/^line 12\d$/m);
});

test('without a folder, the view has one button that opens one', async () => {
  const { page } = await openEditor();
  await showContainer(page);
  const buttons = page.locator('.pane .welcome-view-content .monaco-button');
  await buttons.first().waitFor();
  expect(await buttons.allInnerTexts()).toEqual(['Open Folder']);
});

test('the walkthrough has five steps, each with a picture', async () => {
  const { workbench, page } = await openEditor();
  await workbench.runCommand('Prime Agent: Get started');
  const steps = page.locator('.getting-started-step .step-title');
  await eventually(async () => (await steps.allInnerTexts()).length).toBe(5);
  expect(await steps.allInnerTexts()).toEqual([
    'Fix a failing test',
    'Review what it found',
    'Choose who decides',
    'Check this machine',
    'Let it learn your code (to come)',
  ]);
  await eventually(() => titlesOfPictures(page)).toContain('A failing test');
  await keepPicture(workbench, 'walkthrough');
});

async function showContainer(page: Page): Promise<void> {
  await page.locator('.activitybar').getByRole('tab', { name: 'Prime Agent' }).click();
}

/** Pictures of the walkthrough are in frames of their own. */
async function titlesOfPictures(page: Page): Promise<readonly string[]> {
  const found = page.frames().map((frame) =>
    frame
      .locator('svg > title')
      .allTextContents()
      .catch(() => []),
  );
  return (await Promise.all(found)).flat();
}

interface Made {
  readonly id: string;
  readonly target: string;
  readonly lines: readonly TrajectoryLine[];
}

async function write(home: string, workspacePath: string, made: Made): Promise<void> {
  const store = createTrajectoryStore(join(home, 'trajectories'));
  const redactor = createRedactor({});
  const writer = await store.create({ workspacePath, attemptId: made.id, redactor });
  await writer.append(
    header({
      attemptId: made.id,
      startedAt: new Date().toISOString(),
      policy: { ...header().policy, kind: 'edit-search', label: 'edit-search' },
      sandbox: 'local',
      task: { ...header().task, targets: [made.target], workspaceName: 'shop-cart' },
      messages: [
        { role: 'system', content: 'You fix failing tests in the repository at /workspace.' },
        { role: 'user', content: `Make this failing test pass.\n\nFAIL ${made.target}` },
      ],
    }),
  );
  for (const line of made.lines) await writer.append(line);
  await writer.close();
}

function did(index: number, name: string, given: Record<string, unknown>, returned: string) {
  const plain = turn(index);
  const callId = `call-${index}`;
  return {
    ...plain,
    startedAt: new Date(Date.now() + index * 1000).toISOString(),
    reply: { ...plain.reply, content: '', calls: [{ id: callId, name, arguments: given }] },
    observations: [{ callId, name, ok: true, content: returned, durationMs: 900 }],
  };
}

function ended(over: Parameters<typeof end>[0] = {}) {
  return end({ endedAt: new Date(Date.now() + 12_000).toISOString(), ...over });
}

const PATCH = `diff --git a/src/cart.js b/src/cart.js
--- a/src/cart.js
+++ b/src/cart.js
@@ -1 +1 @@
-    const tax = percentage(this.subtotal, this.taxPercent);
+    const tax = percentage(this.subtotal + shipping, this.taxPercent);
`;

const RECORDS: readonly Made[] = [
  {
    id: 'a-1',
    target: 'test/coupons.test.js::CouponBook > is expired at the very moment it ends',
    lines: [
      did(0, 'bash', { command: 'cat src/coupons.js' }, 'class CouponBook {}'),
      ended({
        outcome: 'out_of_budget',
        reward: 0,
        reason: 'the time was used up',
        end: { kind: 'budget', budget: 'time' },
      }),
    ],
  },
  {
    id: 'a-2',
    target: 'test/cart.test.js::summary > adds shipping and tax',
    lines: [
      did(
        0,
        'run_tests',
        {},
        '1 failed\n\nFAIL test/cart.test.js::summary > adds shipping and tax',
      ),
      did(
        1,
        'str_replace_editor',
        {
          command: 'str_replace',
          path: '/workspace/src/cart.js',
          old_str: '    const tax = percentage(this.subtotal, this.taxPercent);',
          new_str: '    const tax = percentage(this.subtotal + shipping, this.taxPercent);',
        },
        'The file /workspace/src/cart.js has been edited.',
      ),
      did(2, 'run_tests', {}, '1 passed'),
      ended({ patch: PATCH, summary: 'Tax is due on shipping, too.' }),
    ],
  },
];

const LONG: Made = {
  id: 'a-3',
  target: 'test/cart.test.js::counts to two hundred',
  lines: [
    did(
      0,
      'bash',
      { command: 'seq 200' },
      Array.from({ length: 200 }, (_, at) => `line ${at + 1}`).join('\n'),
    ),
    ended({ patch: PATCH }),
  ],
};
