import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Host } from '../../../src/core/frameworks/host.ts';
import { findBuildTool } from '../../../src/core/frameworks/junit/toolchain.ts';
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

describe.each([
  {
    tool: 'Gradle',
    program: 'gradle',
    says: 'Gradle 8.10',
    manifest: 'build.gradle.kts',
    settings: 'gradle/wrapper/gradle-wrapper.properties',
    url: 'https\\://services.example/gradle-8.10-bin.zip',
    fetched: 'wrapper/dists/gradle-8.10-bin/3c5f/gradle-8.10/bin/gradle',
    home: 'GRADLE_USER_HOME',
    usual: '.gradle',
    packages: 'caches/modules-2',
    variable: (home: string) => ({ GRADLE_RO_DEP_CACHE: `${home}/caches` }),
  },
  {
    tool: 'Maven',
    program: 'mvn',
    says: 'Apache Maven 3.9.9 (abc)',
    manifest: 'pom.xml',
    settings: '.mvn/wrapper/maven-wrapper.properties',
    url: 'https://repo.example/maven2/apache-maven-3.9.9-bin.zip',
    fetched: 'wrapper/dists/apache-maven-3.9.9/77ad/bin/mvn',
    home: 'MAVEN_USER_HOME',
    usual: '.m2',
    packages: 'repository',
    variable: (home: string) => ({ MAVEN_OPTS: `-Dmaven.repo.local=${home}/repository` }),
  },
])('$tool', ({ tool, program, says, manifest, settings, url, fetched, home, usual, ...caches }) => {
  const find = () => findBuildTool(openWorkspaceFiles(workspace), host);
  const speaks = (path: string): Promise<string> =>
    put(path, `#!/bin/sh\necho '------'\necho '${says}'\n`, 0o755);
  const number = /[\d.]+/.exec(says)?.[0] ?? '';
  const jdk = (): Promise<string> => put('opt/jdk/bin/javac', '#!/bin/sh\n', 0o755);

  beforeEach(async () => {
    await put(`workspace/${manifest}`, '');
    host = {
      ...host,
      env: { PATH: `${join(folder, 'opt/tool/bin')}:${join(folder, 'opt/jdk/bin')}` },
    };
  });

  test('the one on PATH with its JDK and its packages, which exist or not', async () => {
    await jdk();
    const own = await speaks(`opt/tool/bin/${program}`);
    const packages = join(folder, 'home', usual, caches.packages);
    await mkdir(packages, { recursive: true });
    expect(await find()).toEqual({
      kind: 'found',
      program: own,
      detail: `${tool} ${number} at ${own}, Java in ${join(folder, 'opt/jdk')}`,
      toolchain: {
        path: [join(folder, 'opt/jdk/bin'), dirname(own)],
        mounts: expect.arrayContaining([
          join(folder, 'opt/jdk'),
          join(folder, 'opt/tool'),
          packages,
        ]),
        env: {
          JAVA_HOME: join(folder, 'opt/jdk'),
          ...caches.variable(join(folder, 'home', usual)),
        },
      },
    });
  });

  test('what its wrapper has fetched comes first, and the wrapper itself is not started', async () => {
    await jdk();
    await speaks(`opt/tool/bin/${program}`);
    await put(`workspace/${settings}`, `distributionBase=X\ndistributionUrl=${url}\n`);
    const wrapper = program === 'mvn' ? 'mvnw' : 'gradlew';
    await put(`workspace/${wrapper}`, `#!/bin/sh\ntouch ${folder}/started\n`, 0o755);
    // Not fetched yet: the one on PATH.
    expect(await find()).toMatchObject({ program: join(folder, `opt/tool/bin/${program}`) });
    const usually = await speaks(`home/${usual}/${fetched}`);
    expect(await find()).toMatchObject({ program: usually });
    const elsewhere = await speaks(`elsewhere/${fetched}`);
    host = { ...host, env: { ...host.env, [home]: join(folder, 'elsewhere') } };
    expect(await find()).toMatchObject({
      program: elsewhere,
      detail: expect.stringContaining(number),
    });
    expect(existsSync(join(folder, 'started'))).toBe(false);
  });

  test('JAVA_HOME comes before PATH', async () => {
    await jdk();
    await speaks(`opt/tool/bin/${program}`);
    await put('opt/other/bin/javac', '#!/bin/sh\n', 0o755);
    host = { ...host, env: { ...host.env, JAVA_HOME: join(folder, 'opt/other') } };
    expect(await find()).toMatchObject({
      toolchain: { env: { JAVA_HOME: join(folder, 'opt/other') } },
    });
  });

  test('what is missing is said, and programs of the repository do not count', async () => {
    expect(await find()).toMatchObject({
      kind: 'missing',
      reason: expect.stringContaining('No Java compiler'),
      remedy: expect.stringContaining('Install a JDK'),
    });
    await jdk();
    await speaks(`workspace/bin/${program}`);
    host = { ...host, env: { PATH: `${host.env.PATH}:${join(workspace, 'bin')}` } };
    expect(await find()).toMatchObject({
      kind: 'missing',
      reason: expect.stringContaining(`No ${tool} was found`),
    });
  });
});
