import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { startVscodeWeb, type VscodeWebServer } from '../../../scripts/lib/vscode-web-server.mjs';
import { tempFolder } from '../../support/temp.ts';
import { e2eEnvironment } from './environment.ts';
import { createWorkbench, type Workbench } from './workbench.ts';

export type Theme = 'light' | 'dark' | 'high-contrast';

const THEMES: Readonly<Record<Theme, string>> = {
  light: 'Light Modern',
  dark: 'Dark Modern',
  'high-contrast': 'Default High Contrast',
};

export interface EditorOptions {
  /** Absent: an empty window. */
  readonly folder?: string;
  /** `ask`: Restricted Mode until the folder is trusted. Default: every folder is trusted. */
  readonly trust?: 'ask' | 'all';
  readonly theme?: Theme;
  /** The user's settings, over those that keep the window quiet. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Of the extension host. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Of the window, in CSS pixels. */
  readonly size?: { readonly width: number; readonly height: number };
}

export interface Editor {
  readonly workbench: Workbench;
  readonly page: Page;
  /** Snapshots and trajectories of this profile: what `PRIME_AGENT_HOME` names. */
  readonly home: string;
  /** Everything that VS Code and extensions have logged so far, by file. */
  logs(): Promise<ReadonlyMap<string, string>>;
}

/** Nothing that comes up by itself, so that a test sees what it asked for. */
const QUIET = {
  'chat.disableAIFeatures': true,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.autofetch': false,
  'git.openRepositoryInParentFolders': 'never',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'window.commandCenter': false,
  'workbench.enableExperiments': false,
  'workbench.hover.delay': 60_000,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
};

const CHROMIUM_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * VS Code with the packaged extension, in a profile of its own, with its window open and ready. All of
 * it ends with the test; if that failed, its window and its logs are kept in a folder that is named.
 */
export async function openEditor(options: EditorOptions = {}): Promise<Editor> {
  const { vscode, extensions, failures } = e2eEnvironment();
  const profile = await tempFolder('prime-agent-e2e-profile-');
  const userData = join(profile, 'user');
  const home = join(profile, 'home');
  await mkdir(join(userData, 'User'), { recursive: true });
  const settings = {
    ...QUIET,
    'workbench.colorTheme': THEMES[options.theme ?? 'dark'],
    ...options.settings,
  };
  await writeFile(join(userData, 'User', 'settings.json'), JSON.stringify(settings, null, 2));
  // Behind a server, settings of machine scope are read from there only.
  await mkdir(join(userData, 'Machine'), { recursive: true });
  await writeFile(
    join(userData, 'Machine', 'settings.json'),
    JSON.stringify(options.settings ?? {}, null, 2),
  );

  const open: { server?: VscodeWebServer; browser?: Browser; context?: BrowserContext } = {};
  let page: Page | undefined;
  const logs = (): Promise<ReadonlyMap<string, string>> => readLogs(join(userData, 'logs'));
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') {
      const folder = join(failures, task.name.replaceAll(/[^\w]+/g, '-').slice(0, 80));
      await keep(folder, { page, server: open.server, logs: join(userData, 'logs') });
      process.stderr.write(`Kept of “${task.name}”: ${folder}\n`);
    }
    await open.browser?.close();
    await open.server?.close();
  }, 60_000);

  open.server = await startVscodeWeb(vscode, {
    userData,
    extensions,
    trust: options.trust ?? 'all',
    env: { ...process.env, ...options.env, PRIME_AGENT_HOME: home, PRIME_AGENT_E2E: undefined },
  });
  open.browser = await chromium.launch({
    executablePath: vscode.chromium,
    args: CHROMIUM_ARGUMENTS,
    // Debian's start script writes there before it reads its arguments.
    env: { ...environment(), XDG_CONFIG_HOME: join(profile, 'chromium') },
    timeout: 120_000,
  });
  open.context = await open.browser.newContext({
    viewport: options.size ?? { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    locale: 'en-US',
  });
  page = await open.context.newPage();
  const query =
    options.folder === undefined ? '?ew=true' : `?folder=${encodeURIComponent(options.folder)}`;
  await page.goto(`${open.server.url}/${query}`, { timeout: 120_000 });
  const workbench = createWorkbench(page);
  await workbench.ready();
  return { workbench, page, home, logs };
}

function environment(): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}

async function keep(
  folder: string,
  from: { page: Page | undefined; server: VscodeWebServer | undefined; logs: string },
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  // Each part may be missing, and must not hide why the test failed.
  await from.page?.screenshot({ path: join(folder, 'window.png') }).catch(() => undefined);
  await cp(from.logs, join(folder, 'logs'), { recursive: true }).catch(() => undefined);
  if (from.server) await writeFile(join(folder, 'server.log'), from.server.log());
}

async function readLogs(folder: string): Promise<ReadonlyMap<string, string>> {
  const logs = new Map<string, string>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    logs.set(file.slice(folder.length + 1), await readFile(file, 'utf8').catch(() => ''));
  }
  return logs;
}
