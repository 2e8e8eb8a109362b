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
