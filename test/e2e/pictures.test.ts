import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openEditor, type Theme } from './support/editor.ts';
import { copyExample } from './support/example.ts';
import { ATTEMPT_PATIENCE_MS, eventually, type Workbench } from './support/workbench.ts';

/** Windows are kept there as documentation; without it they are only walked through. */
const pictures = process.env.PRIME_AGENT_PICTURES;

const THEMES: readonly { readonly theme: Theme; readonly kind: string }[] = [
  { theme: 'light', kind: 'vs' },
  { theme: 'dark', kind: 'vs-dark' },
  { theme: 'high-contrast', kind: 'hc-black' },
];

test.each(THEMES)('the way to a fix can be seen in the $theme theme', async ({ theme, kind }) => {
  const folder = await copyExample('shop-cart');
  const settings = { 'primeAgent.policy': 'edit-search' };
  const { workbench, page } = await openEditor({ folder, theme, settings });
  await page.locator(`.monaco-workbench.${kind}`).waitFor();

  await workbench.runCommand('Prime Agent: Fix failing test');
  await workbench.quickPick.opened('Failing tests to fix');
  expect(await workbench.quickPick.items()).toHaveLength(5);
  await keep(workbench, `choose-tests-${theme}`);

  await workbench.quickPick.tick('CouponBook › is expired at the very moment it ends');
  await workbench.quickPick.accept();
  const end = await workbench.notification('ready for review', ATTEMPT_PATIENCE_MS);
  await keep(workbench, `solved-${theme}`);
  await end.press('Review');
  await eventually(async () =>
    (await workbench.diffs()).map(({ modified }) => modified).join('\n'),
  ).toContain('now >= coupon.until');
  await keep(workbench, `review-${theme}`);
});

async function keep(workbench: Workbench, name: string): Promise<void> {
  if (pictures === undefined) return;
  await mkdir(resolve(pictures), { recursive: true });
  await workbench.screenshot(join(resolve(pictures), `${name}.png`));
}
