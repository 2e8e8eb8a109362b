import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleOptions } from '../../../scripts/lib/bundle.mjs';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import { sessionLabels } from '../../../src/core/sandbox/docker/labels.ts';
import type { RawPath } from '../../../src/core/snapshot/raw-path.ts';
import { type TarEntry, writeTar } from '../../../src/core/snapshot/tar.ts';
import { TEST_IMAGE, type TestEngine } from '../../support/docker-engine.ts';
import { shell } from './conformance.ts';
import { createFixture, type Fixture } from './fixture.ts';

/** What processes that were killed leave on the engine is removed at the next start. */
export function describeReaping(engine: TestEngine): void {
  describe('left-overs of dead processes', () => {
    let fixture: Fixture;
    let folder: string;
    const { variables, home } = engine;
    const provider = () => createDockerSandbox({ image: TEST_IMAGE, variables, home });
    const names = (what: 'container' | 'volume'): string[] =>
      engine
        .docker(
          ...(what === 'volume' ? ['volume', 'ls', '-q'] : ['ps', '-a', '--format', '{{.Names}}']),
        )
        .split('\n')
        .filter((line) => line !== '');
    beforeAll(() => {
      fixture = createFixture();
      folder = mkdtempSync(join(tmpdir(), 'prime-reap-'));
    });
    afterAll(() => {
      fixture.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    test('killed with -9: the container ends by itself, the next start removes the rest', async () => {
      const source = `
import { createDockerSandbox } from ${JSON.stringify(join(import.meta.dirname, '../../../src/core/sandbox/docker/docker.ts'))};
const session = await createDockerSandbox(${JSON.stringify({ image: TEST_IMAGE, variables, home })}).open(${JSON.stringify(fixture.spec)});
session.shell('setsid sleep 3190 & echo up; sleep 3190', { timeoutMs: 60000, maxOutputBytes: 100, onOutput: () => console.log('up') });
`;
      writeFileSync(join(folder, 'main.ts'), source);
      await build({
        ...bundleOptions,
        entryPoints: [join(folder, 'main.ts')],
        outfile: join(folder, 'main.mjs'),
        logLevel: 'error',
        nodePaths: [join(import.meta.dirname, '../../../node_modules')],
      });
      const host = spawn(process.execPath, [join(folder, 'main.mjs')], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await new Promise((resolve) => host.stdout.once('data', resolve));
      expect(names('container')).toHaveLength(1);
      host.kill('SIGKILL');
      await expect.poll(() => names('container'), { timeout: 20_000 }).toEqual([]);
      expect(names('volume')).toHaveLength(1);

      const session = await provider().open(fixture.spec);
      expect(names('volume')).toHaveLength(1);
      await session.close();
      expect(names('volume')).toEqual([]);
    });

    test('only what is dead, and only of this machine', async () => {
      const session = await provider().open(fixture.spec);
      const own = await sessionLabels('x');
      const make = (name: string, changed: Readonly<Record<string, string>>): void => {
        const labels = Object.entries({ ...own, ...changed }).flatMap(([key, value]) => [
          '--label',
          `${key}=${value}`,
        ]);
        engine.docker('volume', 'create', ...labels, name);
        engine.docker(
          'create',
          '--name',
          name,
          ...labels,
          '-v',
          `${name}:/data`,
          TEST_IMAGE,
          'true',
        );
      };
      make('dead', { 'prime-agent.owner': '4194999-1' });
      make('before-restart', { 'prime-agent.boot': '00000000-0000-0000-0000-000000000000' });
      make('elsewhere', { 'prime-agent.owner': '4194999-1', 'prime-agent.machine': 'another' });
      make('alive', {});
      engine.docker('create', '--name', 'foreign', TEST_IMAGE, 'true');

      expect(await provider().availability()).toMatchObject({ available: true });
      const kept = ['alive', 'elsewhere'];
      expect(names('volume').filter((name) => !name.startsWith('prime-agent-'))).toEqual(kept);
      expect(
        names('container')
          .filter((name) => !name.startsWith('prime-agent-'))
          .sort(),
      ).toEqual(['alive', 'elsewhere', 'foreign']);
      expect((await shell(session, 'cat a.txt')).text).toBe('a\n');
      await session.close();
      engine.docker('rm', ...kept, 'foreign');
      engine.docker('volume', 'rm', ...kept);
    });

    test('prepared images go when they are a week old', async () => {
      const old = importOld(8);
      const fresh = importOld(6);
      const foreign = importOld(800, 'other');
      expect(await provider().availability()).toMatchObject({ available: true });
      const ids = engine.docker('images', '-q', '--no-trunc').split('\n');
      expect(ids).not.toContain(old);
      expect(ids).toEqual(expect.arrayContaining([fresh, foreign]));
      engine.docker('rmi', '-f', fresh, foreign);
    });

    /** An empty image that was made so many days ago; its id. */
    function importOld(days: number, label = 'image'): string {
      const layer = Buffer.alloc(1024);
      const config = Buffer.from(
        JSON.stringify({
          ...{ architecture: 'amd64', os: 'linux' },
          created: new Date(Date.now() - days * 86_400_000).toISOString(),
          config: { Labels: { 'prime-agent': label } },
          rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] },
          history: [],
        }),
      );
      const name = `prime-agent-test:days-${days}`;
      const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }];
      const files: readonly (readonly [string, Buffer])[] = [
        ['manifest.json', Buffer.from(JSON.stringify(manifest))],
        ['config.json', config],
        ['layer.tar', layer],
      ];
      const entries = files.map(([path, content]): TarEntry => {
        return { path: path as RawPath, kind: 'file', mode: 0o644, content };
      });
      writeFileSync(join(folder, 'image.tar'), writeTar(entries, 0));
      engine.docker('load', '--input', join(folder, 'image.tar'));
      return engine.docker('images', '-q', '--no-trunc', name).trim();
    }
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
