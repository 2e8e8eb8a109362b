// `node scripts/icon.mjs`: media/icon.svg becomes media/icon.png (128 × 128), with Chromium.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { fail, root } from './lib/steps.mjs';
import { installedChromium } from './lib/vscode-web.mjs';

const SIZE = 128;
const executablePath = installedChromium();
if (!executablePath) fail('Chromium is not there. On Debian: apt-get install chromium');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
try {
  const page = await browser.newPage({ viewport: { width: SIZE, height: SIZE } });
  const svg = readFileSync(join(root, 'media/icon.svg'), 'utf8');
  await page.setContent(`<style>body{margin:0}svg{display:block}</style>${svg}`);
  await page.screenshot({ path: join(root, 'media/icon.png'), omitBackground: true });
} finally {
  await browser.close();
}
