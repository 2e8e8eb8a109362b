import { execFileSync, spawnSync } from 'node:child_process';
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
  const proposal = await workbench.notification(/makes the tests? pass/);
  expect(proposal.text).toContain('src/coupons.js');
  await eventually(() => workbench.editorText()).toContain('src/coupons.js');

  await proposal.press('Apply');
  await workbench.notification('The tests pass in the workspace');
  expect(changedFiles(folder)).toEqual(['src/coupons.js']);
  expect(passes(folder, TEST)).toBe(true);
});

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
