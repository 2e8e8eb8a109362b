import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../../src/core/platform/run-program.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/frameworks', import.meta.url));
/** As scripts/lib/steps.mjs has it. */
const cache =
  process.env.PRIME_AGENT_HOME ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'prime-agent');
const INSTALL_MS = 240_000;

/**
 * node_modules with the packages that test/fixtures/frameworks/`name` pins, shared by every clone
 * and run. Needs npm, and its registry once.
 */
export async function installed(name: string): Promise<string> {
  const lock = await readFile(join(fixtures, name, 'package-lock.json'));
  const key = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const folder = join(cache, 'frameworks', `${name}-${key}`);
  const modules = join(folder, 'node_modules');
  if (await exists(modules)) return modules;
  await mkdir(dirname(folder), { recursive: true });
  const made = await mkdtemp(`${folder}-new-`);
  try {
    for (const file of ['package.json', 'package-lock.json'])
      await cp(join(fixtures, name, file), join(made, file));
    const install = ['ci', '--no-audit', '--no-fund', '--ignore-scripts'];
    const result = await runProgram('npm', install, { cwd: made, timeoutMs: INSTALL_MS });
    if (result.code !== 0)
      throw new Error(`npm ci in test/fixtures/frameworks/${name} failed: ${result.stderr}`);
    // Another run may have been faster.
    await rename(made, folder).catch(async (error: unknown) => {
      if (!(await exists(modules))) throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return modules;
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
