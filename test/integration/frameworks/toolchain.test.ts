import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Host } from '../../../src/core/frameworks/host.ts';
import { findNode } from '../../../src/core/frameworks/node-test/toolchain.ts';
import { findPython } from '../../../src/core/frameworks/pytest/toolchain.ts';
import { openWorkspaceFiles, subWorkspace } from '../../../src/core/frameworks/workspace-files.ts';

let folder: string;
let workspace: string;
let host: Host;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'prime-toolchain-')));
  workspace = join(folder, 'workspace');
  await mkdir(join(folder, 'home'), { recursive: true });
  await mkdir(workspace);
  host = { env: { PATH: '' }, home: join(folder, 'home'), nodeProgram: undefined };
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function put(path: string, text: string, mode = 0o644): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await chmod(file, mode);
  return file;
}

/** A program that answers like the Node of this version. */
async function fakeNode(path: string, version: string): Promise<string> {
  const file = join(folder, path);
  return put(path, `#!/bin/sh\nprintf '%s\\n%s\\n' '${file}' '${version}'\n`, 0o755);
}

describe('Node', () => {
  const find = () => findNode(openWorkspaceFiles(workspace), host);

  test('the one on PATH, its installation mounted', async () => {
    await fakeNode('opt/node/bin/node', '22.1.0');
    host = { ...host, env: { PATH: join(folder, 'opt/node/bin') } };
    expect(await find()).toEqual({
      kind: 'found',
      program: join(folder, 'opt/node/bin/node'),
      detail: 'Node 22.1.0 on PATH',
      toolchain: {
        path: [join(folder, 'opt/node/bin')],
        mounts: [join(folder, 'opt/node')],
        env: {},
      },
    });
  });

  test.each([
    ['.nvmrc', 'v20\n'],
    ['.node-version', '20.9.0'],
    ['.tool-versions', 'python 3.1\nnodejs 20.9.0\n'],
    ['package.json', '{"engines":{"node":"^20.0.0"}}'],
    ['package.json', '{"volta":{"node":"20.9.0"},"engines":{"node":">=18"}}'],
  ])('the version that %s asks for, from a version manager', async (file, text) => {
    await fakeNode('opt/node/bin/node', '22.1.0');
    await fakeNode('home/.nvm/versions/node/v20.9.0/bin/node', '20.9.0');
    await put(`workspace/${file}`, text);
    host = { ...host, env: { PATH: join(folder, 'opt/node/bin') } };
    expect(await find()).toMatchObject({ detail: 'Node 20.9.0 of nvm' });
  });

  test('a wish that cannot be met is said', async () => {
    await fakeNode('opt/node/bin/node', '22.1.0');
    await put('workspace/.nvmrc', '21');
    host = { ...host, env: { PATH: join(folder, 'opt/node/bin') } };
    expect(await find()).toMatchObject({
      detail: 'Node 22.1.0 on PATH; the project asks for .nvmrc: 21, which was not found',
    });
  });

  test('nothing usable: what was found and what to do', async () => {
    expect(await find()).toMatchObject({
      kind: 'missing',
      reason: expect.stringContaining('No Node was found'),
      remedy: expect.stringContaining('Install Node 20 or newer'),
    });
    await fakeNode('opt/node/bin/node', '16.0.0');
    host = { ...host, env: { PATH: join(folder, 'opt/node/bin') } };
    expect(await find()).toMatchObject({
      kind: 'missing',
      reason: expect.stringContaining('16.0.0'),
    });
  });

  test('a program that only looks like Node is passed over', async () => {
    await put('opt/bad/node', '#!/bin/sh\necho hello\n', 0o755);
    await fakeNode('opt/node/bin/node', '20.1.0');
    host = { ...host, env: { PATH: `${join(folder, 'opt/bad')}:${join(folder, 'opt/node/bin')}` } };
    expect(await find()).toMatchObject({ detail: 'Node 20.1.0 on PATH' });
  });
});

describe('Python', () => {
  const find = () => findPython(openWorkspaceFiles(workspace), host);
  const python = execFileSync('python3', ['-c', 'import sys; print(sys.base_prefix)'], {
    encoding: 'utf8',
  }).trim();
  const base = join(python, 'bin/python3');

  /** A virtual environment without pip; with `pytest`, a stand-in of that name is in it. */
  async function environment(path: string, pytest: boolean): Promise<string> {
    const at = join(folder, path);
    execFileSync(base, ['-m', 'venv', '--without-pip', at]);
    if (pytest) {
      const site = execFileSync(
        join(at, 'bin/python'),
        ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'],
        { encoding: 'utf8' },
      ).trim();
      await writeFile(join(site, 'pytest.py'), '__version__ = "9.9"\n');
    }
    return at;
  }

  test("the workspace's own environment, with its base installation mounted", async () => {
    await environment('workspace/.venv', true);
    const found = await find();
    expect(found).toMatchObject({
      kind: 'found',
      program: join(workspace, '.venv/bin/python'),
      detail: expect.stringMatching(/^Python 3\.\d+\.\d+ in \.venv, pytest 9\.9$/),
      toolchain: {
        path: [join(workspace, '.venv/bin')],
        env: { VIRTUAL_ENV: join(workspace, '.venv') },
      },
    });
    if (found.kind !== 'found') throw new Error('unreachable');
    const { mounts } = found.toolchain;
    expect(mounts.some((path) => path.startsWith(workspace))).toBe(false);
    if (!python.startsWith('/usr')) expect(mounts).toContain(python);
  });

  test("the user's PYTHONPATH counts as far as it means the workspace", async () => {
    await environment('workspace/.venv', true);
    host = {
      ...host,
      env: { ...host.env, PYTHONPATH: `src:/opt/other:${workspace}/lib:${workspace}-other` },
    };
    expect(await find()).toMatchObject({
      toolchain: { env: { PYTHONPATH: `src:${workspace}/lib` } },
    });
  });

  test("a project in a folder has its own environment, or the workspace's", async () => {
    await environment('workspace/.venv', true);
    await mkdir(join(workspace, 'service'));
    const project = subWorkspace(openWorkspaceFiles(workspace), 'service');
    const outer = await findPython(project, host);
    expect(outer).toMatchObject({ program: join(workspace, '.venv/bin/python') });
    if (outer.kind !== 'found') throw new Error('unreachable');
    expect(outer.toolchain.mounts.some((path) => path.startsWith(workspace))).toBe(false);
    await environment('workspace/service/.venv', true);
    expect(await findPython(project, host)).toMatchObject({
      program: join(workspace, 'service/.venv/bin/python'),
    });
  });

  test('what the user has chosen in the editor comes first, if it has pytest', async () => {
    await environment('workspace/.venv', true);
    const chosen = join(await environment('elsewhere', true), 'bin/python');
    const files = openWorkspaceFiles(workspace);
    expect(await findPython(files, host, { python: chosen })).toMatchObject({
      kind: 'found',
      program: chosen,
      detail: expect.stringContaining('chosen in the editor'),
    });
    const bare = join(await environment('bare', false), 'bin/python');
    expect(await findPython(files, host, { python: bare })).toMatchObject({
      program: join(workspace, '.venv/bin/python'),
    });
  });

  test('a chosen interpreter that came with the repository is not started', async () => {
    const tools = await environment('workspace/tools', true);
    execFileSync('git', ['init', '--quiet', workspace]);
    execFileSync('git', ['-C', workspace, 'add', '--force', 'tools/pyvenv.cfg']);
    const program = join(tools, 'bin/python');
    expect(
      await findPython(openWorkspaceFiles(workspace), host, { python: program }),
    ).toMatchObject({
      kind: 'missing',
      reason: expect.stringContaining('is part of the repository itself'),
    });
  });

  test('without pytest: the remedy of that environment', async () => {
    await environment('workspace/.venv', false);
    expect(await find()).toMatchObject({
      kind: 'missing',
      reason: expect.stringMatching(/^Python 3\.\d+\.\d+ in \.venv has no pytest\.$/),
      remedy: 'Install it there: .venv/bin/python -m pip install pytest',
    });
    await put('workspace/uv.lock', '');
    expect(await find()).toMatchObject({ remedy: 'Install it there: uv add --dev pytest' });
  });

  test('an environment without pytest gives way to one that has it', async () => {
    await environment('workspace/.venv', false);
    const other = await environment('other', true);
    host = { ...host, env: { PATH: '', VIRTUAL_ENV: other } };
    expect(await find()).toMatchObject({
      kind: 'found',
      program: join(other, 'bin/python'),
      toolchain: { mounts: expect.arrayContaining([other]) },
    });
  });

  test('editable installs outside of the workspace are mounted', async () => {
    const at = await environment('workspace/.venv', true);
    await mkdir(join(folder, 'libs/by-path'), { recursive: true });
    await mkdir(join(folder, 'libs/by-hook/pkg'), { recursive: true });
    const site = execFileSync(
      join(at, 'bin/python'),
      ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'],
      { encoding: 'utf8' },
    ).trim();
    await writeFile(join(site, 'editable.pth'), `${join(folder, 'libs/by-path')}\n`);
    await writeFile(
      join(site, '__editable___pkg_1_finder.py'),
      `MAPPING = {'pkg': '${join(folder, 'libs/by-hook/pkg')}'}\n`,
    );
    const found = await find();
    if (found.kind !== 'found') throw new Error(found.reason);
    expect(found.toolchain.mounts).toEqual(
      expect.arrayContaining([join(folder, 'libs/by-path'), join(folder, 'libs/by-hook/pkg')]),
    );
  });

  test('poetry is asked only where the project is one of its own', async () => {
    const at = await environment('cache/env', true);
    await put('bin/poetry', `#!/bin/sh\necho '${at}'\n`, 0o755);
    host = { ...host, env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` } };
    await put('workspace/poetry.lock', '');
    expect(await find()).toMatchObject({
      kind: 'found',
      detail: expect.stringContaining('of poetry'),
    });
  });

  test("pyenv's shim is answered by the interpreter behind it", async () => {
    await mkdir(join(folder, 'home/.pyenv/versions'), { recursive: true });
    const at = await environment('real', true);
    await symlink(at, join(folder, 'home/.pyenv/versions/3.x'));
    await put('workspace/.python-version', '3.x\n');
    expect(await find()).toMatchObject({
      kind: 'found',
      detail: expect.stringContaining('of pyenv, from .python-version'),
    });
  });

  test('no Python at all', async () => {
    expect(await find()).toMatchObject({
      kind: 'missing',
      reason: expect.stringContaining('No Python was found'),
    });
  });
});
