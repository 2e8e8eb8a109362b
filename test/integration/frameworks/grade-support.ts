import { execFileSync } from 'node:child_process';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Framework } from '../../../src/core/frameworks/framework.ts';
import { openWorkspaceFiles } from '../../../src/core/frameworks/workspace-files.ts';
import { makeBaseline } from '../../../src/core/grading/baseline.ts';
import { gradePatch } from '../../../src/core/grading/grade.ts';
import type { Baseline, GradeReport, GradeSetup } from '../../../src/core/grading/types.ts';
import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';
import type { Files } from './support.ts';

export interface GradedProject {
  readonly baseline: Baseline;
  /** Grades the change of these files, all failing tests being the targets. */
  grade(changes: Files): Promise<GradeReport>;
}

/** A project as a repository, with its baseline, to grade changes of it; goes with the test. */
export async function gradedProject(
  framework: Framework,
  files: Files,
  /** A node_modules folder that the project is to have. */
  nodeModules?: string,
): Promise<GradedProject> {
  const folder = await tempFolder();
  const root = join(folder, 'work');
  await writeFiles(root, files);
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  git('init', '-q');
  git('add', '-A');
  const stateDir = join(folder, 'state');
  const made = await makeBase(root, { stateDir });
  const link = join(root, 'node_modules');
  if (nodeModules !== undefined) await symlink(nodeModules, link);
  const toolchain = await framework.toolchain(openWorkspaceFiles(root));
  if (nodeModules !== undefined) await rm(link);
  if (made.kind !== 'base' || toolchain.kind !== 'found') {
    throw new Error(JSON.stringify([made, toolchain]));
  }
  const setup: GradeSetup = {
    provider: createNoneSandbox({ stateDir }),
    spec: {
      base: {
        ...made.base,
        dependencies: [
          ...made.base.dependencies,
          ...(nodeModules === undefined ? [] : [{ path: 'node_modules', hostPath: nodeModules }]),
        ],
      },
      toolchain: toolchain.toolchain,
      toolbox: framework.toolbox,
      limits: { processes: 512, fileBytes: 2 ** 30 },
    },
    framework,
    program: toolchain.program,
    projectPath: '',
    timeoutMs: 300_000,
  };
  const outcome = await makeBaseline(setup);
  if (outcome.kind !== 'baseline') throw new Error(JSON.stringify(outcome));
  const { baseline } = outcome;
  return {
    baseline,
    grade: async (changes) => {
      await writeFiles(root, changes);
      git('add', '-A', '-N');
      const patch = git('diff');
      git('checkout', '-q', '--', '.');
      const targets = baseline.failing.map(({ id }) => id);
      const graded = await gradePatch({ setup, baseline, targets, patch });
      if (graded.kind !== 'graded') throw new Error(graded.reason);
      return graded.report;
    },
  };
}
