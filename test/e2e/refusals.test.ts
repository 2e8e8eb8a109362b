import { expect, test } from 'vitest';
import { openEditor } from './support/editor.ts';
import { copyExample } from './support/example.ts';
import { eventually } from './support/workbench.ts';

const COMMAND = 'Prime Agent: Fix failing test';

test('without a folder, the command says so and offers to open one', async () => {
  const { workbench } = await openEditor();

  await workbench.runCommand(COMMAND);

  const notification = await workbench.notification('No folder is open');
  expect(notification.buttons).toContain('Open Folder…');
  await notification.press('Open Folder…');
  await workbench.quickPick.opened(/Open Folder/);
});

test('in Restricted Mode, the command refuses with the reason and leads to the trust', async () => {
  const folder = await copyExample('shop-cart');
  const { workbench, page } = await openEditor({ folder, trust: 'ask' });
  await eventually(() => workbench.statusBar()).toContainEqual(
    expect.stringMatching('Restricted Mode'),
  );

  await workbench.runCommand(COMMAND);

  const notification = await workbench.notification('only in folders that you trust');
  await notification.press('Manage Workspace Trust');
  await page.locator('.workspace-trust-editor').waitFor();
});
