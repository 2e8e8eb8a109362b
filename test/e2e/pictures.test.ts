import { expect, test } from 'vitest';
import { openEditor } from './support/editor.ts';
import { copyExample } from './support/example.ts';
import { keepPicture, THEMES } from './support/pictures.ts';
import { ATTEMPT_PATIENCE_MS, eventually } from './support/workbench.ts';

test.each(THEMES)('the way to a fix can be seen in the $theme theme', async ({ theme, kind }) => {
  const folder = await copyExample('shop-cart');
  const settings = { 'primeAgent.policy': 'edit-search' };
  const { workbench, page } = await openEditor({ folder, theme, settings });
  await page.locator(`.monaco-workbench.${kind}`).waitFor();

  await workbench.runCommand('Prime Agent: Fix failing test');
  await workbench.quickPick.opened('Failing tests to fix');
  expect(await workbench.quickPick.items()).toHaveLength(5);
  await keepPicture(workbench, `choose-tests-${theme}`);

  await workbench.quickPick.tick('CouponBook › is expired at the very moment it ends');
  await workbench.quickPick.accept();
  const end = await workbench.notification('ready for review', ATTEMPT_PATIENCE_MS);
  await keepPicture(workbench, `solved-${theme}`);
  await end.press('Review');
  await eventually(async () =>
    (await workbench.diffs()).map(({ modified }) => modified).join('\n'),
  ).toContain('now >= coupon.until');
  const named = expect.stringContaining('is expired at the very moment');
  await eventually(() => workbench.tree('Review')).toContainEqual(named);
  await eventually(() => workbench.tree('Attempts')).toContainEqual(named);
  await keepPicture(workbench, `review-${theme}`);
});
