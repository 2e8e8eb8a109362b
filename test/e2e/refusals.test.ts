import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../support/temp.ts';
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

test('on a machine without git, it names what is missing and the next step', async () => {
  const folder = await copyExample('shop-cart');
  const { workbench } = await openEditor({
    folder,
    settings: { 'primeAgent.policy': 'edit-search' },
    env: await machineWithout(/^git/),
  });

  await workbench.runCommand(COMMAND);

  const end = await workbench.notification('git was not found');
  expect(end.text).toMatch(/Install git/);
});

/** PATH has every program but those, in login shells, too, which the editor asks. */
async function machineWithout(names: RegExp): Promise<{ PATH: string; HOME: string }> {
  const HOME = await tempFolder('prime-agent-e2e-home-');
  const PATH = join(HOME, 'bin');
  await mkdir(PATH);
  const linked = new Set<string>();
  for (const from of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of await readdir(from).catch(() => [])) {
      if (names.test(name) || linked.has(name)) continue;
      linked.add(name);
      await symlink(join(from, name), join(PATH, name));
    }
  }
  for (const profile of ['.profile', '.bash_profile', '.bashrc', '.zshenv']) {
    await writeFile(join(HOME, profile), `export PATH='${PATH}'\n`);
  }
  return { PATH, HOME };
}
