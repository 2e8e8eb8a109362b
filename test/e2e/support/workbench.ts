import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/**
 * The parts of VS Code's window that tests use, by what they are for. Everything waits for a condition
 * (`PATIENCE_MS` at most), nothing for a time.
 */
export interface Workbench {
  /** Resolves when the window can be used. */
  ready(): Promise<void>;
  /** Labels of what the command palette offers for a text. */
  commandsFor(text: string): Promise<readonly string[]>;
  /** Runs a command from the palette by its whole title. */
  runCommand(title: string): Promise<void>;
  readonly quickPick: QuickPick;
  /** The notification with this text, once it is there. `patienceMs`: for what takes its time. */
  notification(text: string | RegExp, patienceMs?: number): Promise<Notification>;
  /** Texts of all notifications that are shown. */
  notifications(): Promise<readonly string[]>;
  /** The modal dialog with this text, once it is there. */
  dialog(text: string | RegExp): Promise<Dialog>;
  /** Titles of open editors, from left to right. */
  editors(): Promise<readonly string[]>;
  /** Visible text of the editor that has the focus. */
  editorText(): Promise<string>;
  /** Diffs in sight: each its original and its modified text, as far as they are in sight. */
  diffs(): Promise<readonly Diff[]>;
  /** Labels of the rows in a view of the side bar, by the view's title. */
  tree(title: string): Promise<readonly string[]>;
  treeItem(title: string, label: string | RegExp): Promise<Locator>;
  /** Texts of the status bar's items. */
  statusBar(): Promise<readonly string[]>;
  /** The whole window as a PNG. */
  screenshot(path: string): Promise<void>;
}

export interface QuickPick {
  /** Resolves when one with this title or placeholder is open. */
  opened(text: string | RegExp): Promise<void>;
  items(): Promise<readonly string[]>;
  /** Chooses the one row that matches. */
  choose(label: string | RegExp): Promise<void>;
  /** Ticks rows of a list with boxes. */
  tick(...labels: readonly (string | RegExp)[]): Promise<void>;
  /** The OK of a list with boxes. */
  accept(): Promise<void>;
  cancel(): Promise<void>;
}

export interface Notification {
  readonly text: string;
  readonly buttons: readonly string[];
  press(button: string): Promise<void>;
}

export interface Dialog {
  readonly text: string;
  press(button: string | RegExp): Promise<void>;
}

export interface Diff {
  readonly original: string;
  readonly modified: string;
}

/** Two busy cores and no GPU: slow is not broken. */
export const PATIENCE_MS = 120_000;

/** Attempts run tests many times over. */
export const ATTEMPT_PATIENCE_MS = 480_000;

/** Of a row in a quick pick; its second line is one, too. */
const LABEL = '.label-name:not(.quick-input-list-label-meta *)';

/** `expect` of what becomes true within the patience. */
export function eventually<T>(read: () => Promise<T>, patienceMs = PATIENCE_MS) {
  return expect.poll(read, { timeout: patienceMs, interval: 200 });
}

export function createWorkbench(page: Page): Workbench {
  page.setDefaultTimeout(PATIENCE_MS);
  const input = page.locator('.quick-input-widget .quick-input-box input');
  const rows = page.locator('.quick-input-widget .quick-input-list .monaco-list-row');
  const toasts = page.locator('.notifications-toasts .notification-list-item');

  /** Messages without a button leave after some seconds and wait behind it. */
  const bell = page.locator('[id="status.notifications"] .codicon-bell-dot');

  const openPalette = async (text: string): Promise<void> => {
    await page.keyboard.press('F1');
    await input.waitFor();
    await input.fill(`>${text}`);
  };

  const shown = (): Promise<readonly string[]> =>
    texts(page.locator('.notification-list-item .notification-list-item-message'));

  const labels = async (): Promise<readonly string[]> => texts(rows.locator(LABEL));

  const quickPick: QuickPick = {
    async opened(text) {
      const widget = page.locator('.quick-input-widget');
      await eventually(async () => {
        const title = await widget.locator('.quick-input-title').allInnerTexts();
        const placeholder = await input.getAttribute('placeholder').catch(() => '');
        return `${title.join(' ')}\n${placeholder ?? ''}`;
      }).toMatch(pattern(text));
      await rows.first().waitFor();
    },
    items: labels,
    async choose(label) {
      await rowOf(rows, label).click();
    },
    async tick(...wanted) {
      for (const label of wanted) {
        const box = rowOf(rows, label)
          .locator('.quick-input-list-checkbox, .monaco-checkbox')
          .first();
        await box.click();
      }
    },
    async accept() {
      await page.locator('.quick-input-widget .quick-input-action .monaco-button').first().click();
    },
    async cancel() {
      await page.keyboard.press('Escape');
      await input.waitFor({ state: 'hidden' });
    },
  };

  return {
    async ready() {
      await page.locator('.monaco-workbench .part.statusbar').waitFor();
      // Commands of extensions are there once the extensions have been read.
      await page.locator('.monaco-workbench .part.editor').waitFor();
    },
    async commandsFor(text) {
      await openPalette(text);
      await rows.first().waitFor();
      const found = await labels();
      await quickPick.cancel();
      return found;
    },
    async runCommand(title) {
      // What extensions contribute comes a little after the window.
      await eventually(async () => {
        if (!(await input.isVisible())) await openPalette(title);
        const found = await labels();
        if (!found.includes(title)) {
          await quickPick.cancel();
          return found;
        }
        return found;
      }).toContain(title);
      await rowOf(rows, title).click();
    },
    quickPick,
    async notification(text, patienceMs) {
      const item = page.locator('.notification-list-item').filter({ hasText: text }).first();
      /** A message that has just come is neither shown yet nor behind the bell for good. */
      let unseen = 0;
      await eventually(async () => {
        if (await item.isVisible()) return pattern(text).source;
        const waiting = (await toasts.count()) === 0 && (await bell.count()) > 0;
        unseen = waiting ? unseen + 1 : 0;
        if (unseen > 5) {
          await bell.first().click();
          // Its tooltip would lie over the messages.
          await page.mouse.move(1, 1);
        }
        return shown();
      }, patienceMs).toEqual(pattern(text).source);
      const message = item.locator('.notification-list-item-message');
      const buttons = item.locator('.notification-list-item-buttons-container .monaco-button');
      return {
        text: (await texts(message))[0] ?? '',
        buttons: await texts(buttons),
        async press(button) {
          // By keyboard: a tooltip may lie over it.
          await buttons.filter({ hasText: button }).first().press('Enter');
        },
      };
    },
    notifications: shown,
    async dialog(text) {
      const box = page.locator('.monaco-dialog-box').filter({ hasText: text }).first();
      await box.waitFor();
      return {
        text: await box.textContent().then((text) => text ?? ''),
        async press(button) {
          await box.locator('.monaco-button').filter({ hasText: button }).first().click();
          await box.waitFor({ state: 'detached' });
        },
      };
    },
    editors: () => texts(page.locator('.part.editor .tabs-container .tab .label-name')),
    async editorText() {
      const lines = page
        .locator('.editor-group-container.active .monaco-editor .view-lines')
        .first();
      return linesOf(lines);
    },
    async diffs() {
      const found: Diff[] = [];
      for (const diff of await page.locator('.monaco-diff-editor').all()) {
        found.push({
          original: await linesOf(diff.locator('.editor.original .view-lines').first()),
          modified: await linesOf(diff.locator('.editor.modified .view-lines').first()),
        });
      }
      return found;
    },
    tree: (title) => texts(treeRows(page, title)),
    async treeItem(title, label) {
      const row = treeRows(page, title).filter({ hasText: label }).first();
      await row.waitFor();
      return row;
    },
    statusBar: () => texts(page.locator('.part.statusbar .statusbar-item')),
    async screenshot(path) {
      await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
    },
  };
}

function treeRows(page: Page, title: string): Locator {
  return page
    .locator('.pane')
    .filter({ has: page.locator('.pane-header', { hasText: title }) })
    .locator('.monaco-list-row');
}

/** Monaco draws spaces as no-break ones, and lines in any order. */
async function linesOf(viewLines: Locator): Promise<string> {
  const lines = await viewLines.locator('.view-line').evaluateAll((elements) =>
    elements
      .map((element) => ({
        top: Number.parseFloat((element as unknown as { style: { top: string } }).style.top),
        text: (element as unknown as { textContent: string | null }).textContent ?? '',
      }))
      .sort((a, b) => a.top - b.top)
      .map(({ text }) => text),
  );
  return lines.join('\n').replaceAll('\u00a0', ' ');
}

function rowOf(rows: Locator, label: string | RegExp): Locator {
  const name = rows.page().locator(LABEL);
  return rows.filter({ has: name.filter({ hasText: exact(label) }) }).first();
}

function exact(label: string | RegExp): RegExp {
  return typeof label === 'string' ? new RegExp(`^\\s*${escapePattern(label)}\\s*$`) : label;
}

function pattern(text: string | RegExp): RegExp {
  return typeof text === 'string' ? new RegExp(escapePattern(text)) : text;
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

async function texts(locator: Locator): Promise<readonly string[]> {
  const found = await locator.allInnerTexts();
  return found.map((text) => text.replaceAll('\u00a0', ' ').trim()).filter((text) => text !== '');
}
