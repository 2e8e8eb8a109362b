import { execFileSync } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '../../support/temp.ts';

const examples = fileURLToPath(new URL('../../../examples', import.meta.url));

/** A copy of an example outside of the checkout, as a git repository with one commit. */
export async function copyExample(
  name: 'shop-cart' | 'text-kit' | 'timesheet' | 'pinfold',
  options: { readonly git?: boolean } = {},
): Promise<string> {
  const folder = join(await tempFolder('prime-agent-e2e-project-'), name);
  await cp(join(examples, name), folder, { recursive: true });
  await rm(join(folder, 'node_modules'), { recursive: true, force: true });
  if (options.git !== false) {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
    git('init', '--quiet', '--initial-branch=main');
    git('add', '--all');
    const author = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
    git(...author, 'commit', '--quiet', '--message', 'An example');
  }
  return folder;
}
