import { Buffer } from 'node:buffer';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLocalSandbox } from '../../../src/core/sandbox/local/local.ts';
import { chooseSandbox } from '../../../src/core/sandbox/providers.ts';
import type { SandboxProvider, SandboxSpec } from '../../../src/core/sandbox/sandbox.ts';
import { reapStale } from '../../../src/core/sandbox/scratch.ts';
import { shell } from './conformance.ts';

let stateDir: string;
let local: SandboxProvider;
let copying: SandboxProvider;
beforeAll(() => {
  stateDir = realpathSync(mkdtempSync(join(tmpdir(), 'prime-state-')));
  local = createLocalSandbox({ stateDir });
  copying = createLocalSandbox({ stateDir, layers: 'copy' });
});
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));
let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'prime-layers-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function specAt(name: string, more: Partial<SandboxSpec['base']> = {}): SandboxSpec {
  const tree = join(root, `base${name}`);
  const workspacePath = join(root, `user${name}`, 'project');
  mkdirSync(join(tree, 'packages/one'), { recursive: true });
  mkdirSync(workspacePath, { recursive: true });
  writeFileSync(join(tree, 'file.txt'), 'base\n');
  writeFileSync(join(workspacePath, 'private.txt'), 'not in the snapshot\n');
  return {
    base: { id: name, tree, workspacePath, dependencies: [], ...more },
    toolchain: { path: [], mounts: [], env: {} },
    toolbox: {},
    limits: { processes: 256, fileBytes: 1 << 20 },
  };
}

function dependency(path: string, name = path): { path: string; hostPath: string } {
  const hostPath = join(root, 'deps', name);
  mkdirSync(hostPath, { recursive: true });
  writeFileSync(join(hostPath, 'dep.txt'), `${path}\n`);
  return { path, hostPath };
}

async function inSession(
  provider: SandboxProvider,
  spec: SandboxSpec,
  command: string,
): Promise<string> {
  const session = await provider.open(spec);
  try {
    return (await shell(session, command)).text;
  } finally {
    await session.close();
  }
}

const providers = {
  overlay: (): SandboxProvider => local,
  copy: (): SandboxProvider => copying,
};

describe.each(Object.entries(providers))('layers as %s', (kind, provider) => {
  test.each([':', ',', '\\', ' ', "'", '"', '\n', '$x', '%20', 'é', '-a', '='])(
    'a base, a workspace and a dependency with %j in the path',
    async (odd) => {
      const spec = specAt(`x${odd}y`, { dependencies: [dependency(`node${odd}modules`)] });
      const text = await inSession(
        provider(),
        spec,
        `cat file.txt node*/dep.txt; cd "$(dirname /workspace/file.txt)"; ls`,
      );
      expect(text).toBe(`base\nnode${odd}modules\nfile.txt\nnode${odd}modules\npackages\n`);
      const session = await provider().open(spec);
      const seen = await session.files.read(join(spec.base.workspacePath, 'file.txt'), 100);
      const hidden = await session.files.inspect(join(spec.base.workspacePath, 'private.txt'));
      await session.close();
      expect(Buffer.from(seen).toString()).toBe('base\n');
      expect(hidden.kind).toBe('missing');
    },
  );

  test('several dependency folders, nested ones too; one that is gone is left out', async () => {
    const spec = specAt('', {
      dependencies: [
        dependency('node_modules'),
        dependency('packages/one/node_modules', 'one'),
        { path: 'vendor', hostPath: join(root, 'gone') },
      ],
    });
    const text = await inSession(
      provider(),
      spec,
      'cat node_modules/dep.txt packages/one/node_modules/dep.txt; ls',
    );
    expect(text).toMatch(
      /^node_modules\npackages\/one\/node_modules\nfile.txt\nnode_modules\npackages\n/,
    );
  });

  test('a write to a dependency never reaches the user', async () => {
    const spec = specAt('', { dependencies: [dependency('node_modules')] });
    const text = await inSession(
      provider(),
      spec,
      'echo changed > node_modules/dep.txt; echo $?; echo new > node_modules/new; rm -rf node_modules/* ',
    );
    expect(text).toMatch(kind === 'overlay' ? /^0\n$/ : /Read-only file system/);
    expect(readFileSync(join(root, 'deps/node_modules/dep.txt'), 'utf8')).toBe('node_modules\n');
    expect(readdirSync(join(root, 'deps/node_modules'))).toEqual(['dep.txt']);
  });

  test('both places show the same layer', async () => {
    const spec = specAt('', { dependencies: [dependency('node_modules')] });
    const path = spec.base.workspacePath;
    const text = await inSession(
      provider(),
      spec,
      `echo here > file.txt; cat '${path}/file.txt'; echo there > '${path}/new'; cat new`,
    );
    expect(text).toBe('here\nthere\n');
  });

  test('nothing is left after closing, whatever was made inside', async () => {
    await inSession(
      provider(),
      specAt(''),
      'mkdir -p a/b; touch a/b/c; rm file.txt; mkdir file.txt; chmod 0 a/b a; mkfifo f; ln -s / root; mkdir ro; touch ro/x; chmod 500 ro',
    );
    expect(readdirSync(join(stateDir, 'scratch'))).toEqual([]);
  });
});

describe('tool chains', () => {
  test('are seen read-only at their own path, and their PATH and variables hold', async () => {
    const tools = join(root, 'tools');
    mkdirSync(join(tools, 'bin'), { recursive: true });
    writeFileSync(join(tools, 'bin/tool'), '#!/bin/sh\necho tool $TOOL_HOME\n', { mode: 0o755 });
    const spec: SandboxSpec = {
      ...specAt(''),
      toolchain: { path: [join(tools, 'bin')], mounts: [tools], env: { TOOL_HOME: tools } },
    };
    const text = await inSession(
      providers.overlay(),
      spec,
      'tool; touch $TOOL_HOME/x 2>&1; echo $?',
    );
    expect(text).toMatch(new RegExp(`^tool ${tools}\n.*Read-only file system\n1\n$`));
  });

  test('one that holds the workspace or the home folder is not shown', async () => {
    const base = specAt('');
    const spec: SandboxSpec = {
      ...base,
      toolchain: { path: [], mounts: [root, '/', join(base.base.workspacePath, 'tools')], env: {} },
    };
    const text = await inSession(
      providers.overlay(),
      spec,
      `ls -A ${root} /; ls ${base.base.workspacePath}`,
    );
    expect(text).not.toMatch(/base|state|private|root$/m);
  });
});

test('a larger file than allowed ends its writer', async () => {
  const text = await inSession(
    providers.overlay(),
    specAt(''),
    'head -c 2000000 /dev/zero > big; echo $?; stat -c %s big',
  );
  expect(text).toMatch(/(153|1)\n1048576\n$/);
});

test('what is missing is named with its remedy', async () => {
  const path = process.env.PATH;
  process.env.PATH = join(root, 'empty');
  try {
    const chosen = await chooseSandbox('auto', { stateDir: stateDir });
    expect(chosen).toEqual({
      kind: 'unavailable',
      reason: 'No sandbox: bubblewrap (bwrap) was not found.',
      remedy:
        'Install it: `sudo apt-get install bubblewrap` (Fedora: `sudo dnf install bubblewrap`). Or `--sandbox docker`, or `--sandbox none`, if you accept that commands run without isolation.',
    });
  } finally {
    process.env.PATH = path;
  }
});

test('a base that does not exist is a failure of the sandbox, with the reason, and leaves nothing', async () => {
  const spec = specAt('');
  rmSync(spec.base.tree, { recursive: true });
  await expect(providers.overlay().open(spec)).rejects.toThrow(
    /base.*(does not exist|No such file)/s,
  );
  expect(readdirSync(join(stateDir, 'scratch'))).toEqual([]);
});

describe('the host is killed with -9', () => {
  const alive = (marker: string): number => {
    const found = readdirSync('/proc').filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(marker);
      } catch {
        return false;
      }
    });
    return found.length;
  };

  test.each(['local', 'none'])(
    '%s: every process ends, and the next start cleans up',
    async (kind) => {
      const marker = `9${Math.floor(Math.random() * 1e8)}`;
      const spec = specAt('');
      const source = `
import { createLocalSandbox } from ${JSON.stringify(join(import.meta.dirname, '../../../src/core/sandbox/local/local.ts'))};
import { createNoneSandbox } from ${JSON.stringify(join(import.meta.dirname, '../../../src/core/sandbox/none.ts'))};
const create = ${kind === 'local' ? 'createLocalSandbox' : 'createNoneSandbox'};
const session = await create({ stateDir: ${JSON.stringify(stateDir)} }).open(${JSON.stringify(spec)});
session.shell('mkdir ro; touch ro/x; chmod 500 ro; setsid sleep ${marker} & (setsid bash -c "sleep ${marker} & disown" &); echo up; sleep ${marker}', { timeoutMs: 60000, maxOutputBytes: 100, onOutput: () => console.log('up') });
`;
      writeFileSync(join(root, 'main.ts'), source);
      await build({
        entryPoints: [join(root, 'main.ts')],
        outfile: join(root, 'main.mjs'),
        bundle: true,
        platform: 'node',
        format: 'esm',
        loader: { '.sh': 'text' },
        logLevel: 'error',
        nodePaths: [join(import.meta.dirname, '../../../node_modules')],
      });
      const host: ChildProcess = spawn(process.execPath, [join(root, 'main.mjs')], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await new Promise((resolve) => host.stdout?.once('data', resolve));
      await expect.poll(() => alive(marker)).toBeGreaterThanOrEqual(3);
      host.kill('SIGKILL');
      await expect.poll(() => alive(marker), { timeout: 5000 }).toBe(0);
      await expect
        .poll(async () => {
          await reapStale(stateDir);
          return readdirSync(join(stateDir, 'scratch'));
        })
        .toEqual([]);
      expect(execFileSync('cat', ['/proc/self/mountinfo'], { encoding: 'utf8' })).not.toContain(
        root,
      );
    },
  );

  test('what living processes own is not touched', async () => {
    const session = await providers.overlay().open(specAt(''));
    expect(await reapStale(stateDir)).toBe(0);
    expect((await shell(session, 'cat file.txt')).text).toBe('base\n');
    await session.close();
    expect(existsSync(join(stateDir, 'scratch'))).toBe(true);
    chmodSync(root, 0o755);
  });
});
