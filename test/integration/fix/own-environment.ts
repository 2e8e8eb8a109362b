import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { openWorkspaceRunner } from '../../../src/core/fix/workspace-runner.ts';
import type { Framework, TestRun } from '../../../src/core/frameworks/framework.ts';
import { runTests } from '../../../src/core/frameworks/run.ts';
import { openWorkspaceFiles } from '../../../src/core/frameworks/workspace-files.ts';
import type { DependencyFolder } from '../../../src/core/sandbox/sandbox.ts';
import { fingerprint } from '../../support/fingerprint.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';
import { type Files, statuses } from '../frameworks/support.ts';

const run = promisify(execFile);

export interface OwnProject {
  readonly files: Files;
  readonly framework: Framework;
  /** Ids → how they end. */
  readonly results: Readonly<Record<string, string>>;
  /** Outside of the workspace, in a folder beside it. */
  readonly beside?: Files;
  readonly dependencies?: readonly DependencyFolder[];
  readonly env?: Readonly<Record<string, string>>;
  /** Name of the workspace's folder. */
  readonly name?: string;
}

type Layers = 'auto' | 'copy';
export const LAYERS = ['auto', 'copy'] as const;

/** Runs all tests as the user would, and sees that nothing of the workspace is another than before. */
export async function expectUntouched(
  project: Omit<OwnProject, 'results'>,
  layers: Layers,
): Promise<TestRun> {
  const world = await tempFolder('prime-agent-own-');
  const root = join(world, project.name ?? 'project, with:odd name');
  await mkdir(root);
  for (const name of ['home', 'state']) await mkdir(join(world, name));
  await writeFiles(root, project.files);
  await writeFiles(world, project.beside ?? {});
  const git = (...args: readonly string[]): Promise<{ stdout: string }> =>
    run('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args]);
  await git('init', '--quiet');
  await git('add', '--all');
  await git('commit', '--quiet', '--message=start');
  const state = async () => ({
    status: (await git('status', '--porcelain', '--ignored')).stdout,
    // `git status` keeps its index there.
    files: await fingerprint(root, '.git'),
  });
  const before = await state();

  const { framework } = project;
  const found = await framework.toolchain(openWorkspaceFiles(root));
  if (found.kind === 'missing') throw new Error(`${found.reason} ${found.remedy}`);
  const environment = {
    ...{ PATH: process.env.PATH, HOME: join(world, 'home') },
    PRIME_AGENT_HOME: join(world, 'state'),
    ...project.env,
  };
  const opened = await openWorkspaceRunner(
    { root, dependencies: project.dependencies ?? [] },
    { toolchain: found.toolchain, toolbox: framework.toolbox, environment, layers },
  );
  if (opened.kind !== 'open') throw new Error(opened.reason);
  const { runner } = opened;
  let result: TestRun;
  try {
    const request = { program: found.program, projectPath: '', tests: [] };
    result = await runTests(runner, framework, request, { timeoutMs: 250_000 });
  } finally {
    await runner.close();
  }
  expect(await state()).toEqual(before);
  expect(await readdir(join(world, 'state/scratch'))).toEqual([]);
  return result;
}

export async function expectResults(project: OwnProject, layers: Layers): Promise<void> {
  const result = await expectUntouched(project, layers);
  if (result.kind !== 'ran') throw new Error(JSON.stringify(result, null, 1));
  expect(statuses(result.results), result.log).toEqual(project.results);
}
