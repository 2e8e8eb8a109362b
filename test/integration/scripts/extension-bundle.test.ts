import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';

const lib = new URL('../../../scripts/lib/bundle.mjs', import.meta.url).href;
const { extensionOptions } = await import(/* @vite-ignore */ lib);

/** The extension's bundle as it ships, in a folder without any node_modules around it. */
let folder: string;
let outputs: Metafile['outputs'];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prime-agent-bundle-'));
  const made = await build({ ...extensionOptions, outdir: folder, metafile: true });
  ({ outputs } = made.metafile ?? { outputs: {} });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const named = (ending: RegExp): string => {
  const found = Object.keys(outputs).filter((path) => ending.test(path));
  expect(found).toHaveLength(1);
  return found[0] ?? '';
};

/** Files that are loaded with `path` at once. */
function closure(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const { path: next, kind, external } of outputs[path]?.imports ?? []) {
    if (kind === 'import-statement' && !external) closure(next, seen);
  }
  return seen;
}

const packagesOf = (path: string): string[] =>
  [...closure(path)].flatMap((file) => Object.keys(outputs[file]?.inputs ?? {}));

describe('the client for container engines', () => {
  test('is not in what activation loads, nor beside a fix that uses another sandbox', () => {
    const docker = /node_modules\/(?:dockerode|docker-modem)\//;
    const entry = packagesOf(named(/(?:^|\/)extension\.js$/));
    expect(entry.length).toBeGreaterThan(20);
    expect(entry.filter((path) => docker.test(path))).toEqual([]);
    expect(packagesOf(named(/\/fix-flow-\w+\.js$/)).filter((path) => docker.test(path))).toEqual(
      [],
    );
    expect(packagesOf(named(/\/docker-\w+\.js$/)).some((path) => docker.test(path))).toBe(true);
  });

  test('works from its chunk, without native code and without its package', async () => {
    const [file] = (await readdir(join(folder, 'extension'))).filter((name) =>
      /^docker-\w+\.js$/.test(name),
    );
    const chunk: { createDockerSandbox: typeof createDockerSandbox } = await import(
      /* @vite-ignore */ pathToFileURL(join(folder, 'extension', file ?? '')).href
    );
    const host = `unix://${folder}/none.sock`;
    const variables = { DOCKER_HOST: host };
    const state = await chunk.createDockerSandbox({ variables, home: folder }).availability();
    expect(state).toMatchObject({
      available: false,
      reason: `No container engine answers at ${host}`,
    });
  });
});
