import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { connect } from '../../../src/core/outbox/connection.ts';
import { createOutbox } from '../../../src/core/outbox/outbox.ts';
import { sendWaiting } from '../../../src/core/outbox/sender.ts';
import { makeToken, permit, storedAttempts, trajectory } from '../../integration/server/world.ts';
import { tempFolder } from '../../support/temp.ts';

/** A host of its own: a network namespace, joined to this one by a pair of virtual cables. */
const NAME = `pa-${process.pid}`;
const [HERE, THERE] = ['10.213.77.1', '10.213.77.2'];
const client = { name: 'test', version: '0.0.0' };

function ip(...args: string[]): boolean {
  return spawnSync('ip', args, { stdio: 'ignore' }).status === 0;
}

function canMakeHosts(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  if (!ip('netns', 'add', `${NAME}-probe`)) return false;
  const veth = ip(
    'link',
    'add',
    `${NAME}p`.slice(-14),
    'type',
    'veth',
    'peer',
    'name',
    `q${NAME}`.slice(0, 14),
  );
  if (veth) ip('link', 'del', `${NAME}p`.slice(-14));
  return ip('netns', 'del', `${NAME}-probe`) && veth;
}

describe.skipIf(!canMakeHosts())(
  'a server on a second host (needs root, ip of iproute2, and a kernel that makes network namespaces)',
  () => {
    const cable = `${NAME}a`.slice(-14);
    const far = `b${NAME}`.slice(0, 14);
    const programs = join(process.cwd(), 'node_modules', `.second-host-${process.pid}`);

    beforeAll(async () => {
      const lib = new URL('../../../scripts/lib/bundle.mjs', import.meta.url).href;
      const { serverOptions } = await import(/* @vite-ignore */ lib);
      const entryPoints = { host: new URL('./programs/host-main.ts', import.meta.url).pathname };
      await build({ ...serverOptions, entryPoints, outdir: programs });
      const steps = [
        ['netns', 'add', NAME],
        ['link', 'add', cable, 'type', 'veth', 'peer', 'name', far],
        ['link', 'set', far, 'netns', NAME],
        ['addr', 'add', `${HERE}/24`, 'dev', cable],
        ['link', 'set', cable, 'up'],
        ['-n', NAME, 'addr', 'add', `${THERE}/24`, 'dev', far],
        ['-n', NAME, 'link', 'set', far, 'up'],
        ['-n', NAME, 'link', 'set', 'lo', 'up'],
      ];
      for (const step of steps) expect(ip(...step), step.join(' ')).toBe(true);
    });
    afterAll(async () => {
      ip('link', 'del', cable);
      ip('netns', 'del', NAME);
      await rm(programs, { recursive: true, force: true });
    });

    async function startFarServer(
      data: string,
    ): Promise<{ readonly url: string; readonly fingerprint: string }> {
      const command = ['netns', 'exec', NAME, process.execPath, join(programs, 'host.js')];
      const child: ChildProcess = spawn('ip', [...command, data, THERE, '0'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(async () => {
        if (child.exitCode !== null) return;
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        await gone;
      });
      if (!child.stdout) throw new Error('no output');
      for await (const line of createInterface({ input: child.stdout })) {
        const [url = '', fingerprint = ''] = line.split(' ');
        return { url, fingerprint };
      }
      throw new Error('the server did not start');
    }

    test('is spoken to with TLS and a pinned certificate; a cut cable costs time, and what arrived is not sent again', async () => {
      const data = await tempFolder();
      const token = makeToken(data);
      const { url, fingerprint } = await startFarServer(data);
      expect(url).toContain(`https://${THERE}:`);
      const other = fingerprint.replace(/^../, fingerprint.startsWith('00') ? '01' : '00');
      await expect(connect({ url, token, fingerprint: other }, client)).rejects.toThrow(
        'shows another certificate',
      );
      await expect(connect({ url, token }, client)).rejects.toThrow(/self-signed|self signed/);
      const plain = url.replace('https:', 'http:');
      await expect(connect({ url: plain, token }, client)).rejects.toThrow('not sent in the clear');

      const outbox = createOutbox(await tempFolder());
      await outbox.enqueue(trajectory('far', 8_000_000), await permit());
      // 8 Mbit/s: the upload takes some seconds, so that the cut comes in its middle.
      const slow = ['qdisc', 'add', 'dev', cable, 'root', 'tbf', 'rate', '8mbit', 'burst', '32kb'];
      const shaped = spawnSync('tc', [...slow, 'latency', '400ms'], { encoding: 'utf8' });
      expect(shaped.status, shaped.stderr).toBe(0);
      const incoming = join(data, 'incoming');
      const arrived = async (): Promise<number> => {
        const [name] = await readdir(incoming);
        return name === undefined ? 0 : (await stat(join(incoming, name))).size;
      };
      const server = { url, token, fingerprint };
      const first = sendWaiting(outbox, server, { client }).then(
        () => undefined,
        (error: unknown) => error,
      );
      await vi.waitFor(async () => expect(await arrived()).toBeGreaterThan(1_000_000), {
        timeout: 60_000,
      });
      expect(ip('link', 'set', cable, 'down')).toBe(true);
      const before = await arrived();
      // The server notices that nothing comes any more; then the cable is mended.
      await new Promise((done) => setTimeout(done, 6_000));
      expect(ip('link', 'set', cable, 'up')).toBe(true);
      expect(await first).toBeInstanceOf(Error);
      const [entry] = await outbox.list();
      expect(entry?.state.kind).toBe('waiting');
      expect(storedAttempts(data)).toEqual([]);
      expect(await arrived()).toBeGreaterThanOrEqual(before);

      const sentBefore = sentOver(cable);
      expect(await sendWaiting(outbox, server, { client })).toMatchObject({ sent: 1 });
      const sentAfter = sentOver(cable);
      const bytes = entry?.bytes ?? 0;
      expect(bytes).toBeGreaterThan(4_000_000);
      // What had arrived did not cross the cable again (with some room for TLS and TCP).
      expect(sentAfter - sentBefore).toBeLessThan((bytes - before) * 1.2 + 200_000);
      expect(storedAttempts(data)).toEqual(['far']);
    });
  },
);

/** Bytes since it was made. */
function sentOver(device: string): number {
  const shown = spawnSync('ip', ['-s', '-j', 'link', 'show', device], { encoding: 'utf8' });
  const [link] = JSON.parse(shown.stdout) as { stats64: { tx: { bytes: number } } }[];
  return link?.stats64.tx.bytes ?? 0;
}
