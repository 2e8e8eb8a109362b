import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createConsentStore } from '../../../src/core/outbox/consent.ts';
import { outboxRoot } from '../../../src/core/outbox/folder.ts';
import { offerAttempts } from '../../../src/core/outbox/offer.ts';
import { createOutbox } from '../../../src/core/outbox/outbox.ts';
import { previewOf } from '../../../src/core/outbox/preview.ts';
import { createRedactor } from '../../../src/core/redaction/redactor.ts';
import { trajectoriesRoot, workspaceFolder } from '../../../src/core/trajectories/folder.ts';
import { createTrajectoryStore } from '../../../src/core/trajectories/store.ts';
import type { Trajectory } from '../../../src/core/trajectories/trajectory.ts';
import { tempFolder } from '../../support/temp.ts';
import { end, turn } from '../../unit/core/trajectories/make.ts';
import { type CliResult, runCli } from './cli.ts';
import { startWorld, storedAttempts, trajectory } from './world.ts';

const SECRET = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';

interface Desk {
  readonly env: Record<string, string>;
  readonly workspace: string;
  record(trajectory: Trajectory, workspace?: string): Promise<void>;
  cli(argv: readonly string[], answer?: string): Promise<CliResult>;
}

/** A user's machine with a workspace: records and outbox in a home of its own. */
async function desk(): Promise<Desk> {
  const home = await tempFolder();
  const env: Record<string, string> = { PRIME_AGENT_HOME: home };
  const workspace = join(await tempFolder(), 'shop');
  await mkdir(workspace);
  const store = createTrajectoryStore(trajectoriesRoot(env));
  return {
    env,
    workspace,
    async record({ header, turns, end: last }, workspacePath = workspace) {
      const redactor = createRedactor({ workspacePath });
      const { attemptId } = header;
      const writer = await store.create({ workspacePath, attemptId, redactor });
      for (const line of [header, ...turns, ...(last ? [last] : [])]) await writer.append(line);
      await writer.close();
    },
    cli: (argv, answer) => runCli(argv, { env, cwd: workspace }, answer),
  };
}

function withSecret(attemptId: string): Trajectory {
  const base = trajectory(attemptId);
  const seen = { callId: 'call-0', name: 'bash', ok: true, durationMs: 1 };
  const observations = [{ ...seen, content: `token ${SECRET}\n` }];
  return { ...base, turns: [turn(0, { observations })] };
}

describe('nothing is queued or sent', () => {
  test('without consent, whatever is recorded and whoever asks', async () => {
    const { env, workspace, record, cli } = await desk();
    await record(trajectory('a-1'));
    const world = await startWorld();
    env.PRIME_AGENT_TOKEN = world.token();
    const send = ['outbox', 'send', '--server', world.server.url];
    expect(await cli(send)).toMatchObject({
      code: 0,
      err: expect.stringContaining('no workspace is allowed'),
    });
    await cli(['outbox', 'preview']);
    // Asked, and said no; or nobody there who could say yes.
    expect(await cli(['outbox', 'allow'], 'n')).toMatchObject({ code: 1 });
    expect(await cli(['outbox', 'allow'], '')).toMatchObject({ code: 1 });
    expect(await cli(['outbox', 'allow'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('say --yes'),
    });
    expect(await cli(send)).toMatchObject({ out: expect.stringContaining('0 attempts sent') });
    const consents = createConsentStore(outboxRoot(env));
    const outbox = createOutbox(outboxRoot(env));
    const store = createTrajectoryStore(trajectoriesRoot(env));
    const redactor = createRedactor({ workspacePath: workspace });
    const offered = { workspacePath: workspace, consents, outbox, store, redactor };
    expect(await offerAttempts(offered)).toEqual([]);
    expect(await readdir(outboxRoot(env)).catch(() => [])).toEqual([]);
    expect(storedAttempts(world.data)).toEqual([]);
  });

  test('of another workspace than the one that was allowed', async () => {
    const { env, record, cli } = await desk();
    const other = join(await tempFolder(), 'other');
    await mkdir(other);
    await record(trajectory('mine'));
    await record(trajectory('theirs'), other);
    const world = await startWorld();
    env.PRIME_AGENT_TOKEN = world.token();
    expect(await cli(['outbox', 'allow'], 'y')).toMatchObject({ code: 0 });
    await cli(['outbox', 'send', '--server', world.server.url]);
    expect(storedAttempts(world.data)).toEqual(['mine']);
    // A consent that is copied to another workspace's name is none.
    const folder = join(outboxRoot(env), 'consent');
    const [name = ''] = await readdir(folder);
    await writeFile(
      join(folder, `${workspaceFolder(other)}.json`),
      await readFile(join(folder, name), 'utf8'),
    );
    await cli(['outbox', 'send', '--server', world.server.url]);
    expect(storedAttempts(world.data)).toEqual(['mine']);
  });

  test('with a consent that cannot be read, that was taken back, or is while something is put in', async () => {
    const root = await tempFolder();
    const consents = createConsentStore(root);
    const outbox = createOutbox(root);
    const shown = await previewOf(trajectory('a'), createRedactor({ workspacePath: '/shop' }));
    const permit = await consents.allow('/shop', shown);
    expect(await outbox.enqueue(trajectory('a'), permit)).toMatchObject({ kind: 'queued' });
    expect(await consents.revoke('/shop')).toBe(true);
    expect(await consents.revoke('/shop')).toBe(false);
    expect(await outbox.enqueue(trajectory('b'), permit)).toEqual({ kind: 'no-consent' });
    expect(await consents.permit('/shop')).toBeUndefined();
    // Taken back between the first question and the last.
    await consents.allow('/shop', shown);
    let asked = 0;
    const fading = {
      ...permit,
      stillGiven: async () => {
        asked += 1;
        return asked === 1;
      },
    };
    expect(await outbox.enqueue(trajectory('c'), fading)).toEqual({ kind: 'no-consent' });
    expect((await outbox.list()).map(({ attemptId }) => attemptId)).toEqual(['a']);
    expect((await readdir(root)).sort()).toEqual(['a.gz', 'a.json', 'consent']);
    await writeFile(join(root, 'consent', `${workspaceFolder('/shop')}.json`), '{"version":1');
    await expect(consents.permit('/shop')).rejects.toThrow('nothing of its workspace is sent');
    expect(await permit.stillGiven()).toBe(false);
  });
});

describe('prime-agent outbox', () => {
  test('shows what an attempt contains and what was redacted, asks, sends, and shows what became of it', async () => {
    const { env, record, cli } = await desk();
    await record(withSecret('a-1'));
    const preview = await cli(['outbox', 'preview']);
    expect(preview.code).toBe(0);
    for (const text of ['a-1', 'shop', 'Calls of tools', 'bash {"command":"ls"}', 'a.js']) {
      expect(preview.out).toContain(text);
    }
    expect(preview.out).toMatch(/Taken out before it was recorded: \S+ × 1/);
    const full = await cli(['outbox', 'preview', '--full']);
    expect(full.out).not.toContain(SECRET);
    const asked = await cli(['outbox', 'allow'], 'yes');
    expect(asked.code).toBe(0);
    expect(asked.err.indexOf('what would be sent')).toBeLessThan(asked.err.indexOf('[y/N]'));

    const world = await startWorld();
    const tokenFile = join(await tempFolder(), 'token');
    await writeFile(tokenFile, `${world.token()}\n`);
    const send = ['outbox', 'send', '--server', world.server.url, '--token-file', tokenFile];
    expect(await cli(send)).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 attempt sent'),
    });
    expect(storedAttempts(world.data)).toEqual(['a-1']);
    expect((await cli(['outbox', 'ls'])).out).toMatch(/a-1 {2}sent /);
    expect(await cli(['outbox', 'withdraw', 'a-1'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('was sent already'),
    });
    expect(await cli(send)).toMatchObject({ out: expect.stringContaining('0 attempts sent') });
    expect((await cli(['outbox', 'send', '--server', world.server.url])).err).toContain(
      'there is no token',
    );
    expect(env.PRIME_AGENT_TOKEN).toBeUndefined();
  });

  test('sends the very bytes that it showed', async () => {
    const { env, record, cli } = await desk();
    await record(trajectory('a-1'));
    await cli(['outbox', 'allow', '--yes']);
    const full = await cli(['outbox', 'preview', '--full']);
    env.PRIME_AGENT_TOKEN = 'pa_0000000000000000_x';
    // Put into the outbox; nobody listens at the other end.
    expect(await cli(['outbox', 'send', '--server', 'http://127.0.0.1:1'])).toMatchObject({
      code: 3,
    });
    expect((await cli(['outbox', 'show', 'a-1'])).out).toBe(full.out);
  });

  test('withdraws for good, and what is denied is gone', async () => {
    const { env, record, cli } = await desk();
    for (const id of ['a-1', 'a-2']) await record(trajectory(id));
    await cli(['outbox', 'allow', '--yes']);
    env.PRIME_AGENT_TOKEN = 'pa_0000000000000000_x';
    const nowhere = ['outbox', 'send', '--server', 'http://127.0.0.1:1'];
    await cli(nowhere);
    expect(await cli(['outbox', 'withdraw', 'a-1', '../../x'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('no attempt "../../x" is in the outbox'),
    });
    expect(await cli(['outbox', 'withdraw', 'a-1'])).toMatchObject({ code: 0 });
    await cli(nowhere);
    const entries = async (): Promise<unknown[]> =>
      JSON.parse((await cli(['outbox', 'ls', '--json'])).out).entries;
    expect(await entries()).toMatchObject([
      { attemptId: 'a-1', state: { kind: 'withdrawn' } },
      { attemptId: 'a-2', state: { kind: 'waiting' } },
    ]);
    expect(await cli(['outbox', 'deny'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 attempt that waited went'),
    });
    expect(await entries()).toMatchObject([{ attemptId: 'a-1' }]);
    expect((await cli(['outbox', 'ls'])).out).toContain('No workspace is allowed');
  });

  test('keeps here what must stay, and says why; one damaged record holds up no other', async () => {
    const { env, workspace, record, cli } = await desk();
    await record(trajectory('good'));
    const local = trajectory('local');
    await record({ ...local, end: end({ ...local.end, localOnly: true }) });
    // A secret that only today's rules know: recorded when the value was none.
    await record({
      ...trajectory('late'),
      turns: [turn(0, { nudge: 'say hunter2-correct-horse' })],
    });
    await writeFile(join(workspace, '.env'), 'DB_PASSWORD=hunter2-correct-horse\n');
    const records = join(trajectoriesRoot(env), workspaceFolder(workspace));
    await writeFile(join(records, 'broken.jsonl'), 'no record\n');
    expect((await cli(['outbox', 'preview', '--attempt', 'local'])).out).toContain(
      'It stays on this machine, whatever you allow: a secret was found in what the policy wrote',
    );
    expect((await cli(['outbox', 'preview', '--attempt', 'late'])).out).toContain(
      'a secret was found in its turn 0',
    );
    // Without a name, one that may leave is shown.
    expect((await cli(['outbox', 'preview'])).out).toContain('Attempt good');
    await cli(['outbox', 'allow', '--yes']);
    const world = await startWorld();
    env.PRIME_AGENT_TOKEN = world.token();
    const sent = await cli(['outbox', 'send', '--server', world.server.url, '--json']);
    expect(JSON.parse(sent.out)).toEqual({
      ...{ sent: 1, refused: 0, waiting: 0, stay: 2 },
      files: { sent: 0, refused: 0, waiting: 0 },
    });
    expect(storedAttempts(world.data)).toEqual(['good']);
  });

  test('says what to do where there is nothing to show', async () => {
    const { cli } = await desk();
    for (const command of ['preview', 'allow']) {
      expect(await cli(['outbox', command])).toMatchObject({
        code: 3,
        err: expect.stringContaining('Make one with: prime-agent fix'),
      });
    }
  });
});
