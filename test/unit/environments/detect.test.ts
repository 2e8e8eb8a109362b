import { describe, expect, test } from 'vitest';
import { environmentSchema } from '../../../src/core/environments/description.ts';
import {
  type DetectOptions,
  detectEnvironment,
} from '../../../src/core/environments/detect/detect.ts';
import { textTree } from '../../../src/core/tasks/tree.ts';

type Files = Readonly<Record<string, string>>;

function detected(files: Files, options: DetectOptions = {}) {
  const found = detectEnvironment(textTree(files), options);
  if (found.kind !== 'described') throw new Error(`${found.reason}. ${found.remedy}`);
  // What is found can be written into a task and read again.
  expect(environmentSchema.parse(JSON.parse(JSON.stringify(found.description)))).toEqual(
    found.description,
  );
  return { ...found.description, source: found.source };
}

const commands = (files: Files, options?: DetectOptions): string[] =>
  detected(files, options).setup.map(({ command }) => command);

const MANIFEST = '{"dependencies":{"ms":"2.1.3"}}';
const LOCK = '{"lockfileVersion":3,"packages":{"node_modules/ms":{"version":"2.1.3"}}}';

describe('detection from lock files', () => {
  test('npm: the lock file decides, and the project’s own scripts do not run', () => {
    const found = detected({
      'package.json': MANIFEST,
      'package-lock.json': LOCK,
      '.npmrc': 'save-exact=true\n',
      'packages/a/package.json': '{}',
      'node_modules/x/package.json': '{}',
      'src/index.js': '',
    });
    expect(found.base).toEqual({ kind: 'image', image: 'node:22-bookworm' });
    expect(found.source).toBe('npm');
    expect(found.files).toEqual([
      '.npmrc',
      'package-lock.json',
      'package.json',
      'packages/a/package.json',
    ]);
    expect(found.setup).toEqual([
      {
        tool: 'npm',
        folder: '',
        command: 'npm ci --include=dev --ignore-scripts --no-audit --no-fund',
      },
    ]);
  });

  test('npm: packages whose scripts compile something are built by name', () => {
    const lock = JSON.stringify({
      lockfileVersion: 3,
      packages: {
        '': { hasInstallScript: true },
        'node_modules/esbuild': { hasInstallScript: true },
        'node_modules/a/node_modules/@b/c': { hasInstallScript: true },
        'packages/own': { hasInstallScript: true },
        'node_modules/plain': {},
      },
    });
    const [command] = commands({ 'package.json': MANIFEST, 'package-lock.json': lock });
    expect(command).toMatch(/ && npm rebuild @b\/c esbuild$/);
  });

  test('npm: a shrinkwrap comes first, a version of Node is heeded', () => {
    const found = detected({
      'package.json': MANIFEST,
      'package-lock.json': LOCK,
      'npm-shrinkwrap.json': LOCK,
      '.nvmrc': 'v20.11\n',
    });
    expect(found.base).toEqual({ kind: 'image', image: 'node:20-bookworm' });
    expect(found.files).toEqual(['npm-shrinkwrap.json', 'package.json']);
  });

  test.each([
    ["lockfileVersion: '6.0'\n", MANIFEST, 'pnpm@8'],
    ["lockfileVersion: '9.0'\n", MANIFEST, 'pnpm@9'],
    ["lockfileVersion: '9.0'\n", '{"packageManager":"pnpm@10.2.1+sha512.abc"}', 'pnpm@10.2.1'],
  ])('pnpm: the version of the lock file or of package.json (%j)', (lock, manifest, version) => {
    const files = { 'package.json': manifest, 'pnpm-lock.yaml': lock, 'pnpm-workspace.yaml': '' };
    const [command] = commands(files);
    expect(command).toContain(`npm exec --yes -- ${version} install --frozen-lockfile`);
    expect(command).toContain('--ignore-scripts');
    expect(detected(files).files).toContain('pnpm-workspace.yaml');
  });

  test('Yarn: the first and the later ones', () => {
    expect(commands({ 'package.json': MANIFEST, 'yarn.lock': '# yarn lockfile v1\n' })[0]).toMatch(
      /yarn@1\.22\.22 install --frozen-lockfile .*--ignore-scripts/,
    );
    const berry = { 'package.json': MANIFEST, 'yarn.lock': '__metadata:\n  version: 8\n' };
    expect(commands(berry)[0]).toMatch(/YARN_NODE_LINKER=node-modules .* --immutable/);
  });

  test('a manifest that names packages without a lock file is said', () => {
    expect(detectEnvironment(textTree({ 'package.json': MANIFEST }))).toEqual({
      kind: 'unknown',
      reason: expect.stringContaining('no lock file says which versions'),
      remedy: expect.stringContaining('package-lock.json'),
    });
    expect(detected({ 'package.json': '{"type":"module"}' })).toMatchObject({
      source: 'node',
      setup: [],
      files: [],
    });
    expect(detectEnvironment(textTree({ 'package.json': '[' })).kind).toBe('unknown');
  });

  test('pip: requirements with what they include, outside of the workspace', () => {
    const found = detected({
      'requirements.txt': '-r requirements/more.txt\nattrs==23.2.0\n',
      'requirements-dev.txt': 'pytest==8.3.4\n',
      'requirements/more.txt': '-c ../limits.txt\n',
      'limits.txt': '',
      'other.txt': '',
    });
    expect(found.files).toEqual([
      'limits.txt',
      'requirements-dev.txt',
      'requirements.txt',
      'requirements/more.txt',
    ]);
    expect(found.path).toEqual(['/opt/environment/venv/bin']);
    expect(found.variables).toEqual({ VIRTUAL_ENV: '/opt/environment/venv' });
    expect(found.setup[0]?.command).toContain(
      '--requirement requirements-dev.txt --requirement requirements.txt',
    );
    expect(found.base).toEqual({ kind: 'image', image: 'python:3.12-bookworm' });
  });

  test.each(['-e .', '.', './lib', '--editable=./lib', 'file:lib'])(
    'pip: %s needs the sources',
    (line) => {
      expect(detected({ 'requirements.txt': `${line}\n` }).files).toBe('all');
    },
  );

  test('pip: a package is installed editable, with its extras for tests', () => {
    const found = detected({
      'pyproject.toml':
        '[build-system]\nrequires = ["hatchling"]\n[project]\nname = "a"\n[project.optional-dependencies]\ntest = ["pytest"]\ndocs = []\n',
      '.python-version': '3.11.4\n',
    });
    expect(found.setup[0]?.command).toContain("--editable '.[test]'");
    expect(found.files).toBe('all');
    expect(found.base).toEqual({ kind: 'image', image: 'python:3.11-bookworm' });
    expect(found.notes).toEqual([expect.stringContaining('newest')]);
  });

  test('uv and Poetry come before requirements', () => {
    const project = '[project]\nname = "a"\n';
    const uv = detected({ 'uv.lock': '', 'pyproject.toml': project, 'requirements.txt': '' });
    expect(uv.source).toBe('uv');
    expect(uv.files).toEqual(['pyproject.toml', 'uv.lock']);
    expect(uv.setup[0]?.command).toContain('uv sync --frozen --no-install-project');
    const poetry = detected({ 'poetry.lock': '', 'pyproject.toml': project });
    expect(poetry.setup[0]?.command).toContain(
      'poetry install --no-interaction --no-ansi --no-root',
    );
  });

  test.each<[string, Files, string, RegExp]>([
    [
      'Go',
      { 'go.mod': 'module a\n\ngo 1.22.3\n', 'go.sum': '' },
      'golang:1.22-bookworm',
      /^go mod download$/,
    ],
    ['Cargo', { 'Cargo.toml': '', 'Cargo.lock': '' }, 'rust:1-bookworm', /^cargo fetch --locked$/],
    [
      'Maven',
      { 'pom.xml': '' },
      'maven:3.9-eclipse-temurin-21',
      /^mvn .*test\.failure\.ignore.* test$/,
    ],
    ['Gradle', { 'build.gradle.kts': '' }, 'gradle:8-jdk21', /gradle --no-daemon .* test/],
  ])('%s', (_, files, image, command) => {
    expect(detected(files).base).toEqual({ kind: 'image', image });
    expect(commands(files)[0]).toMatch(command);
  });

  test('Go without sums has nothing to fetch', () => {
    expect(detected({ 'go.mod': 'module a\n\ngo 1.22\n' })).toMatchObject({
      setup: [],
      variables: {},
    });
  });
});

describe('several of them', () => {
  const both = {
    'package.json': MANIFEST,
    'package-lock.json': LOCK,
    'requirements.txt': 'pytest\n',
  };

  test('the language of the tests decides on the image; the other one is left out and said', () => {
    expect(detected(both).base).toEqual({ kind: 'image', image: 'node:22-bookworm' });
    const python = detected(both, { prefer: 'python' });
    expect(python.base).toEqual({ kind: 'image', image: 'python:3.12-bookworm' });
    expect(python.setup.map(({ tool }) => tool)).toEqual(['pip']);
    expect(python.notes.join()).toContain('npm is left out');
  });

  test('a named image gets everything', () => {
    const found = detected(both, { image: 'mine:1' });
    expect(found.base).toEqual({ kind: 'image', image: 'mine:1' });
    expect(found.setup.map(({ tool }) => tool)).toEqual(['npm', 'pip']);
  });

  test('the project’s own folder comes before the root, unless it has no lock file', () => {
    const own = {
      ...both,
      'web/package.json': MANIFEST,
      'web/package-lock.json': LOCK,
      'tool/package.json': '{"name":"tool"}',
    };
    const folders = (projectPath: string) =>
      detected(own, { projectPath }).setup.map(({ folder }) => folder);
    expect(folders('web')).toEqual(['web']);
    expect(folders('tool')).toEqual(['']);
  });
});

describe('devcontainer.json', () => {
  const at = '.devcontainer/devcontainer.json';

  test('its image, variables and commands, in their order', () => {
    const found = detected({
      ...{ 'package.json': MANIFEST, 'package-lock.json': LOCK },
      [at]: `// comment
{
  "image": "mcr.example/node@sha256:0",
  "remoteUser": "node",
  "features": { "x": {} },
  "containerEnv": { "A": "1", "B": "\${localEnv:HOME}", "C": "\${containerWorkspaceFolder}/c" },
  "postCreateCommand": ["npm", "ci", "--a b"],
  "onCreateCommand": { "one": "echo 1", "two": ["echo", "2"] },
}`,
    });
    expect(found.base).toEqual({ kind: 'image', image: 'mcr.example/node@sha256:0' });
    expect(found.setup).toEqual([
      { tool: 'onCreateCommand', folder: '', command: 'echo 1' },
      { tool: 'onCreateCommand', folder: '', command: 'echo 2' },
      { tool: 'postCreateCommand', folder: '', command: "npm ci '--a b'" },
    ]);
    expect(found.files).toBe('all');
    expect(found.variables).toEqual({ A: '1', C: '/workspace/c' });
    expect(found.notes).toEqual([
      expect.stringContaining('containerEnv.B is left out'),
      expect.stringContaining('remoteUser is left out: commands run as the user of the sandbox'),
      expect.stringContaining('features is left out'),
    ]);
  });

  test('without commands the lock files say what is installed', () => {
    const found = detected({
      'requirements.txt': 'pytest\n',
      '.devcontainer.json': '{"image":"mine:2"}',
    });
    expect(found.base).toEqual({ kind: 'image', image: 'mine:2' });
    expect(found.setup.map(({ tool }) => tool)).toEqual(['pip']);
  });

  test('a Dockerfile relative to it, in both forms', () => {
    for (const [context, text] of [
      ['.devcontainer', '{"build":{"dockerfile":"Dockerfile","target":"dev","args":{"V":"1"}}}'],
      ['', '{"dockerFile":"Dockerfile","context":".."}'],
    ]) {
      const { base } = detected({ [at]: text ?? '', '.devcontainer/Dockerfile': 'FROM x\n' });
      expect(base).toMatchObject({
        kind: 'dockerfile',
        dockerfile: '.devcontainer/Dockerfile',
        context,
      });
    }
  });

  test.each([
    ['{"dockerComposeFile":"compose.yml","service":"app"}', /Docker Compose/],
    ['{"build":{"dockerfile":"../../Dockerfile"}}', /not in the repository/],
    ['{"build":{"dockerfile":"Dockerfile"}}', /not in the repository/],
    ['{}', /neither an image nor a Dockerfile/],
    ['{"image":', /not JSON with comments/],
    ['{"image":7}', /cannot be read/],
  ])('%s is said, and a named image helps', (text, reason) => {
    const files = { [at]: text, 'requirements.txt': 'pytest\n' };
    expect(detectEnvironment(textTree(files))).toMatchObject({
      kind: 'unknown',
      reason: expect.stringMatching(reason),
    });
    expect(detected(files, { image: 'mine:3' }).setup.map(({ tool }) => tool)).toEqual(['pip']);
  });
});

describe('a Dockerfile of the root', () => {
  test('counts only where nothing else is there', () => {
    const files = { Dockerfile: 'FROM debian\n' };
    expect(detected(files)).toMatchObject({ source: 'Dockerfile', base: { kind: 'dockerfile' } });
    expect(detected({ ...files, 'requirements.txt': '' }).base.kind).toBe('image');
  });

  test('nothing at all is said', () => {
    expect(detectEnvironment(textTree({ 'a.txt': '' }))).toEqual({
      kind: 'unknown',
      reason: 'Nothing in the repository says what its tests need',
      remedy: expect.stringContaining('--image'),
    });
  });
});
