import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { playScript, replace, submit } from './scripted-server.ts';
import { createWorld, type Files, type World } from './world.ts';

/** A workspace whose folders have dependencies, by links to folders that tests share. */
export async function worldWith(
  program: string,
  files: Files,
  modules: Readonly<Record<string, () => Promise<string>>>,
): Promise<World> {
  const world = await createWorld(program, { '.gitignore': 'node_modules\n', ...files });
  for (const [folder, find] of Object.entries(modules))
    await symlink(await find(), join(world.workspace, folder, 'node_modules'));
  return world;
}

export interface Project {
  readonly files: Files;
  readonly modules?: () => Promise<string>;
  readonly source?: string;
  readonly target: string;
}

/** A fix that breaks another test is graded failed, the right one solved; through the command line. */
export async function expectFix(program: string, project: Project): Promise<void> {
  const { files, modules, target, source = 'src/price.js' } = project;
  const { run } = await worldWith(program, files, modules ? { '': modules } : {});
  let replies = 0;
  // It mends the target and breaks the other test; then it is done properly.
  const wrong = [
    [replace(source, 'net - tax', 'net + tax'), replace(source, 'n / 2', 'n + 1')],
    [submit('Plus instead of minus, and half.')],
  ];
  const right = [[replace(source, 'net - tax', 'net + tax')], [submit('Plus.')]];
  const server = await playScript(() => {
    replies += 1;
    return replies <= wrong.length ? wrong : right;
  });
  const policy = ['--policy', server.baseUrl, '--attempts', '2'];
  const { code, stdout, stderr } = await run(['fix', ...policy, '--json']);
  const report = JSON.parse(stdout);
  expect(report, stderr).toMatchObject({
    outcome: 'solved',
    solved: [target],
    patch: expect.stringContaining('net + tax'),
    tests: [{ id: target, attempts: [{ outcome: 'failed' }, { outcome: 'solved' }] }],
  });
  expect(report.patch).not.toContain('n + 1');
  expect(code).toBe(0);
}
