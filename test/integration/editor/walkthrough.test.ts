import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { checkMachine, openExample } from '../../../src/editor/walkthrough/walkthrough.ts';
import { createFakeVs } from '../../support/fake-vs.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;

describe('the example', () => {
  it('is opened as a fresh copy each time, and earlier ones stay', async () => {
    const storage = await mkdtemp(join(tmpdir(), 'prime-agent-storage-'));
    onTestFinished(() => rm(storage, { recursive: true, force: true }));
    const { vs, executed } = createFakeVs({ folders: ['/srv/shop'] });
    const context = {
      asAbsolutePath: (path: string) => join(ROOT, path),
      globalStorageUri: vs.Uri.file(storage),
    };
    await openExample(vs, context);
    const first = join(storage, 'examples', 'shop-cart');
    await writeFile(join(first, 'src', 'cart.js'), 'mine');
    await openExample(vs, context);
    expect(executed.map(({ id, args }) => [id, String(args[0]), args[1]])).toEqual([
      ['vscode.openFolder', `file://${first}`, { forceNewWindow: true }],
      ['vscode.openFolder', `file://${first}-2`, { forceNewWindow: true }],
    ]);
    expect(await readFile(join(first, 'src', 'cart.js'), 'utf8')).toBe('mine');
    expect((await stat(join(`${first}-2`, 'package.json'))).isFile()).toBe(true);
  });
});

describe('checking this machine', () => {
  it('logs what is there, and says what is missing with its remedy', async () => {
    const { vs, log, messages } = createFakeVs({ folders: [join(ROOT, 'examples/shop-cart')] });
    const channel = vs.window.createOutputChannel('x', { log: true });
    await checkMachine({ vs, log: channel, environment: process.env });
    expect(log.join('\n')).toMatch(/info Node: \d+/);
    expect(log.join('\n')).toMatch(/sandbox \(local\): /);
    expect(log.join('\n')).toMatch(/node:test/);
    expect(log.join('\n')).not.toMatch(/prime-agent (doctor|fix)/);
    expect(messages).toMatchObject([{ actions: ['Show Log'] }]);
    expect(messages[0]?.text).toMatch(/^(Everything needed is there\.|Missing: )/);
  });
});

describe('the walkthrough', () => {
  it('has pictures that are there', async () => {
    for (const { steps } of manifest.contributes.walkthroughs) {
      for (const { media } of steps) {
        expect(await readFile(join(ROOT, media.svg), 'utf8')).toMatch(/^<svg /);
      }
    }
    const icon = await readFile(join(ROOT, manifest.icon));
    expect(icon.subarray(1, 4).toString()).toBe('PNG');
    expect([icon.readUInt32BE(16), icon.readUInt32BE(20)]).toEqual([128, 128]);
  });
});
