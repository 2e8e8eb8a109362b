import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openEditor } from './support/editor.ts';
import { copyExample } from './support/example.ts';
import { ATTEMPT_PATIENCE_MS, eventually } from './support/workbench.ts';

const COMMAND = 'Prime Agent: Fix failing test';
const SETTINGS = { 'primeAgent.policy': 'edit-search' };

/** Of examples/shop-cart; one operator is wrong in src/coupons.js. */
const TEST = 'is expired at the very moment it ends';
const LABEL = `CouponBook › ${TEST}`;

test('from the palette to the applied patch: the chosen test is fixed, and nothing else changes', async () => {
  const folder = await copyExample('shop-cart');
  const { workbench } = await openEditor({ folder, settings: SETTINGS });

  await workbench.runCommand(COMMAND);
  await workbench.quickPick.opened('Failing tests to fix');
  expect(await workbench.quickPick.items()).toHaveLength(5);
  await workbench.quickPick.tick(LABEL);
  await workbench.quickPick.accept();

  const end = await workbench.notification('ready for review', ATTEMPT_PATIENCE_MS);
  expect(changedFiles(folder)).toEqual([]);
  await end.press('Review');
  await eventually(async () =>
    (await workbench.diffs()).map(({ modified }) => modified).join('\n'),
  ).toContain('now >= coupon.until');
  expect(changedFiles(folder)).toEqual([]);

  await workbench.runCommand('Prime Agent: Accept all changes');
  await workbench.notification('Accepted. The test passes in the workspace.', ATTEMPT_PATIENCE_MS);
  expect(changedFiles(folder)).toEqual(['src/coupons.js']);
  expect(passes(folder, TEST)).toBe(true);
});

test('cancelled in the middle: it says so, nothing is changed, and no process is left', async () => {
  const folder = await copyExample('shop-cart');
  const { workbench, home } = await openEditor({ folder, settings: SETTINGS });

  await workbench.runCommand(COMMAND);
  await workbench.quickPick.opened('Failing tests to fix');
  // One that small edits do not solve: there is time to cancel.
  await workbench.quickPick.tick('buyGetFree › does not count free units towards the next group');
  await workbench.quickPick.accept();
  await workbench.notification(/attempt \d+: turn/, ATTEMPT_PATIENCE_MS);
  expect(processesOf(home)).not.toEqual([]);
  await workbench.runCommand('Prime Agent: Cancel');

  await workbench.notification('Cancelled. Nothing of yours was changed.');
  expect(changedFiles(folder)).toEqual([]);
  await eventually(async () => processesOf(home)).toEqual([]);
});

test('a folder without git has its failing tests found, too', async () => {
  const folder = await copyExample('text-kit', { git: false });
  const { workbench } = await openEditor({ folder, settings: SETTINGS });

  await workbench.runCommand(COMMAND);
  await workbench.quickPick.opened('Failing tests to fix');
  expect(await workbench.quickPick.items()).toHaveLength(5);
  await workbench.quickPick.cancel();
  await eventually(async () => existsSync(join(folder, '.git'))).toBe(false);
});

test('from the Test Explorer: the menu of a failing test fixes that one', async () => {
  const folder = await copyExample('shop-cart');
  const { workbench, page } = await openEditor({ folder, settings: SETTINGS });

  await workbench.runCommand('Prime Agent: Run tests');
  await workbench.runCommand('Testing: Focus on Test Explorer View');
  const row = (text: string) =>
    page.locator('.test-explorer .monaco-list-row').filter({ hasText: text }).first();
  for (const parent of ['test/coupons.test.js', 'CouponBook']) {
    await row(parent).click();
    await page.keyboard.press('ArrowRight');
  }
  await row(TEST).click({ button: 'right' });
  // By keyboard: a menu that has just opened takes no click.
  await page.locator('.monaco-menu .action-label', { hasText: 'Fix with Prime Agent' }).hover();
  await page.keyboard.press('Enter');

  const end = await workbench.notification('ready for review', ATTEMPT_PATIENCE_MS);
  await end.press('Review');
  await eventually(() => workbench.tree('Review')).toContainEqual(
    expect.stringContaining('coupons.js'),
  );
  expect(changedFiles(folder)).toEqual([]);
});

test('with the keyboard alone, from the palette to the accepted patch', async () => {
  const folder = await copyExample('shop-cart');
  const { workbench, page } = await openEditor({ folder, settings: SETTINGS });
  await page.mouse.move(1, 1);
  /** As `runCommand`, without the mouse. */
  const press = async (title: string): Promise<void> => {
    await eventually(async () => (await workbench.commandsFor(title))[0]).toBe(title);
    await page.keyboard.press('F1');
    await page.keyboard.type(title);
    await eventually(async () => (await workbench.quickPick.items())[0]).toBe(title);
    await page.keyboard.press('Enter');
  };

  await press(COMMAND);
  await workbench.quickPick.opened('Failing tests to fix');
  await page.keyboard.type(TEST);
  await eventually(() => workbench.quickPick.items()).toHaveLength(1);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');

  await workbench.notification('ready for review', ATTEMPT_PATIENCE_MS);
  await press('Notifications: Accept Notification Primary Action');
  await eventually(() => workbench.tree('Review')).toContainEqual(
    expect.stringContaining('coupons.js'),
  );
  await press('Prime Agent: Accept all changes');
  await workbench.notification('Accepted. The test passes in the workspace.', ATTEMPT_PATIENCE_MS);
  expect(changedFiles(folder)).toEqual(['src/coupons.js']);
});

/** Command lines of what runs with files of this profile: sandboxes mount its snapshots. */
function processesOf(home: string): readonly string[] {
  const { stdout } = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes(home));
}

function changedFiles(folder: string): readonly string[] {
  const status = execFileSync('git', ['status', '--porcelain'], { cwd: folder, encoding: 'utf8' });
  return status.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(3)]));
}

function passes(folder: string, name: string): boolean {
  const { status } = spawnSync(
    process.execPath,
    ['--test', `--test-name-pattern=${name}`, 'test/coupons.test.js'],
    // Not the channel of this test runner.
    { cwd: folder, env: { PATH: process.env.PATH } },
  );
  return status === 0;
}
