import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type * as vscode from 'vscode';
import { createRedactor } from '../../../src/core/redaction/redactor.ts';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import { trajectoriesRoot } from '../../../src/core/trajectories/folder.ts';
import { createTrajectoryStore } from '../../../src/core/trajectories/store.ts';
import { connectServer } from '../../../src/editor/sharing/connect-server.ts';
import { createServerTokens } from '../../../src/editor/sharing/server.ts';
import { shareAttempts, showOutbox } from '../../../src/editor/sharing/share-attempts.ts';
import { createSharing } from '../../../src/editor/sharing/sharing.ts';
import { createVirtualDocuments } from '../../../src/editor/support/virtual-documents.ts';
import { createFakeContext, createFakeVs } from '../../support/fake-vs.ts';
import { tempFolder } from '../../support/temp.ts';
import { attemptAt, FAILING, FAILING_TARGET } from '../server/work-world.ts';
import { startWorld, storedAttempts } from '../server/world.ts';

const QUICK = { soonMs: 20, retryMs: 50, longestMs: 200 };

async function setUp() {
  const home = await tempFolder();
  const workspace = join(await tempFolder(), 'shop');
  for (const [path, text] of Object.entries(FAILING)) {
    await mkdir(join(workspace, path, '..'), { recursive: true });
    await writeFile(join(workspace, path), text);
  }
  const fake = createFakeVs({ folders: [workspace] });
  const { vs } = fake;
  const { context, secrets } = createFakeContext('/x');
  const line = (text: string) => fake.log.push(text);
  const log = { info: line, warn: line, error: line } as unknown as vscode.LogOutputChannel;
  const tokens = createServerTokens(context.secrets);
  const environment = { PRIME_AGENT_HOME: home };
  const window = (timing = QUICK) => {
    const sharing = createSharing({ vs, log, tokens, environment, busy: () => false, timing });
    onTestFinished(async () => {
      await sharing.stop();
      sharing.dispose();
    });
    return sharing;
  };
  const sharing = window();
  const documents = createVirtualDocuments(vs);
  const store = createTrajectoryStore(trajectoriesRoot(environment));
  return {
    ...{ fake, secrets, sharing, window },
    connect: () => connectServer({ vs, log, tokens, sharing }),
    share: () => shareAttempts({ vs, log, tokens, documents, sharing }, undefined),
    outbox: () => showOutbox({ vs, sharing }),
    /** Attempts end without a server as with one. */
    async attempt(attemptId: string) {
      const made = await makeBase(workspace, { stateDir: home });
      if (made.kind !== 'base') throw new Error(made.reason);
      await made.base.release();
      const task = { framework: 'node:test', targets: [FAILING_TARGET], snapshotId: made.base.id };
      const { header, turns, end } = attemptAt('task', attemptId, {}, task);
      const redactor = createRedactor({ workspacePath: workspace });
      const writer = await store.create({ workspacePath: workspace, attemptId, redactor });
      for (const each of [header, ...turns, ...(end ? [end] : [])]) await writer.append(each);
      await writer.close();
      sharing.soon();
    },
  };
}

async function until(good: () => boolean, what: string): Promise<void> {
  const began = performance.now();
  while (!good()) {
    if (performance.now() - began > 60_000) throw new Error(`${what} did not come`);
    await sleep(20);
  }
}

/** What somebody answers who knows the server. */
function knows(fake: Awaited<ReturnType<typeof setUp>>['fake'], url: string, token: string): void {
  fake.user.input = ({ password }) => (password ? token : url);
  fake.user.answer = ({ actions }) => actions.find((title) => title === 'It Is the Same');
}

describe('Connect to training server…', () => {
  it('shows a certificate that nobody vouches for, pins it, keeps the token secret and shares nothing', async () => {
    const { fake, secrets, connect, attempt, sharing } = await setUp();
    const world = await startWorld({ tls: { selfSigned: true } });
    await attempt('a-1');
    const { url, fingerprint } = world.server;
    const token = world.token();
    knows(fake, url, token);
    await connect();
    expect(fake.messages[0]).toMatchObject({ level: 'warning', modal: true });
    expect(Object.fromEntries(fake.settings)).toEqual({
      'primeAgent.server.url': url,
      'primeAgent.server.fingerprint': fingerprint,
    });
    expect([...secrets]).toEqual([[`primeAgent.serverToken.${url}`, token]]);
    expect(fake.messages[1]?.text).toMatch(/Connected to .* as alice\. Nothing is shared/);
    expect([...fake.log, ...fake.messages.map(({ text }) => text)].join()).not.toContain(token);
    await sleep(300);
    expect(await sharing.refresh()).toEqual({ waiting: 0, sent: 0, refused: 0 });
    expect(storedAttempts(world.data)).toEqual([]);
  });

  it('keeps nothing where the certificate is not the same, or the token is wrong', async () => {
    const { fake, secrets, connect } = await setUp();
    const world = await startWorld({ tls: { selfSigned: true } });
    knows(fake, world.server.url, 'pa_0000000000000000_wrong');
    fake.user.answer = () => undefined;
    await connect();
    expect(fake.messages).toHaveLength(1);
    knows(fake, world.server.url, 'pa_0000000000000000_wrong');
    await connect();
    expect(fake.messages.at(-1)).toMatchObject({
      level: 'error',
      text: expect.stringMatching(/Not connected: this token is not known/),
    });
    expect(fake.settings.size + secrets.size).toBe(0);
    fake.user.input = () => 'http://192.0.2.1:7317';
    await expect(connect()).rejects.toThrow('not sent in the clear');
  });
});

describe('Share attempts of this workspace…', () => {
  it('shows what is sent, asks, sends in the background, and later attempts by themselves', async () => {
    const { fake, connect, share, attempt, sharing, outbox } = await setUp();
    const world = await startWorld();
    await share();
    expect(fake.messages.at(-1)?.text).toContain('No training server is connected');
    knows(fake, world.server.url, world.token());
    await connect();
    await share();
    expect(fake.messages.at(-1)?.text).toContain('Make one with “Prime Agent: Fix failing test”');
    await attempt('a-1');
    await share();
    const [document] = fake.shown;
    expect(document?.uri.path).toBe('/What would be shared.md');
    expect(document?.text).toContain('3 files, ');
    expect(document?.text).toContain('- ` src/twice.js `, 35 bytes');
    expect(fake.messages.at(-1)).toMatchObject({
      ...{ level: 'information', modal: false },
      actions: ['Share with Files', 'Share Without Files'],
    });
    // The question was closed: nothing is allowed.
    await sleep(200);
    expect(storedAttempts(world.data)).toEqual([]);

    fake.user.answer = () => 'Share with Files';
    await share();
    const messages = fake.messages.length;
    await until(() => storedAttempts(world.data).length === 1, 'the attempt');
    await attempt('a-2');
    await until(() => storedAttempts(world.data).length === 2, 'the next attempt');
    await until(() => sharing.summary() === '0 waiting, 2 sent, 0 refused', 'the state');
    expect(fake.messages).toHaveLength(messages);
    expect(fake.shown).toHaveLength(2);

    fake.user.answer = () => 'Stop Sharing';
    await share();
    await attempt('a-3');
    await sleep(300);
    expect(storedAttempts(world.data)).toEqual(['a-1', 'a-2']);
    fake.user.answer = () => undefined;
    await outbox();
    expect(fake.messages.at(-1)?.text).toBe('0 waiting, 2 sent, 0 refused');
  });

  it('waits for a server that is gone without a word, goes on when it is back; what waits can be withdrawn', async () => {
    const { fake, connect, share, attempt, sharing, outbox } = await setUp();
    const first = await startWorld();
    const { port } = new URL(first.server.url);
    knows(fake, first.server.url, first.token());
    await connect();
    await attempt('a-1');
    await first.server.close();
    fake.user.answer = ({ actions }) => actions.find((title) => title === 'Share with Files');
    await share();
    await until(() => /^1 waiting.*\(.+\)$/.test(sharing.summary() ?? ''), 'the failure');
    const messages = fake.messages.length;
    await attempt('a-2');
    await until(() => (sharing.summary() ?? '').startsWith('2 waiting'), 'the second');
    fake.user.pick = (items) => items.filter(({ label }) => label === 'a-2');
    await outbox();
    expect(sharing.summary()).toMatch(/^1 waiting/);
    const again = await startWorld({ listen: { port: Number(port) } }, { data: first.data });
    await until(() => storedAttempts(again.data).length === 1, 'the attempt');
    await until(() => sharing.summary() === '0 waiting, 1 sent, 0 refused', 'the state');
    expect(storedAttempts(again.data)).toEqual(['a-1']);
    expect(fake.messages).toHaveLength(messages);
  });

  it('does nothing in Restricted Mode', async () => {
    const { fake, connect, share, attempt } = await setUp();
    const world = await startWorld();
    knows(fake, world.server.url, world.token());
    await connect();
    fake.user.answer = ({ actions }) => actions.find((title) => title === 'Share with Files');
    fake.trusted = false;
    await share();
    expect(fake.messages.at(-1)?.text).toContain('only in folders that you trust');
    fake.trusted = true;
    await attempt('a-1');
    await share();
    fake.trusted = false;
    await attempt('a-2');
    await sleep(300);
    expect(storedAttempts(world.data)).not.toContain('a-2');
  });
});
