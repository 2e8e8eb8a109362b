import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxSpec } from '../../../src/core/sandbox/sandbox.ts';

export interface Fixture {
  /** Root of everything; holds `state`, `base`, `home/project` and `secrets`. */
  readonly root: string;
  readonly spec: SandboxSpec;
  remove(): void;
}

const git = (folder: string, ...args: string[]): void => {
  execFileSync(
    'git',
    ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args],
    {
      stdio: 'ignore',
    },
  );
};

/** A base as `core/snapshot` makes it, next to the user's own folder with its history. */
export function createFixture(): Fixture {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'prime-sandbox-')));
  const project = join(root, 'home', 'project');
  const base = join(root, 'base');
  mkdirSync(join(project, 'node_modules', 'dep'), { recursive: true });
  writeFileSync(join(project, 'secret-history.txt'), 'only in the history\n');
  git(project, 'init', '-q');
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'history');
  writeFileSync(join(project, 'node_modules', 'dep', 'index.js'), 'module.exports = 42;\n');
  mkdirSync(join(base, 'src'), { recursive: true });
  writeFileSync(join(base, '.gitignore'), 'node_modules/\n');
  writeFileSync(join(base, 'a.txt'), 'a\n');
  writeFileSync(join(base, 'src', 'run.sh'), '#!/bin/sh\necho ran\n', { mode: 0o755 });
  git(base, 'init', '-q');
  git(base, 'add', '.');
  git(base, 'commit', '-qm', 'snapshot');
  return {
    root,
    spec: {
      base: {
        id: 'fixture',
        tree: base,
        workspacePath: project,
        dependencies: [{ path: 'node_modules', hostPath: join(project, 'node_modules') }],
      },
      toolchain: { path: [], mounts: [], env: {} },
      toolbox: { 'reporter.txt': 'a helper\n' },
      limits: { processes: 512, fileBytes: 8 * 1024 * 1024 * 1024 },
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
