import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';

const learner = fileURLToPath(new URL('../../server/learner', import.meta.url));
const steps = new URL('../../scripts/lib/steps.mjs', import.meta.url).href;

/** Python of an environment with PyTorch, made once and shared by every clone. */
let python = '';

beforeAll(async () => {
  const requirements = join(learner, 'requirements.txt');
  const install = `
    const { pythonEnvironment } = await import(${JSON.stringify(steps)});
    const folder = await pythonEnvironment(${JSON.stringify(requirements)});
    console.log(folder ?? '');`;
  const made = await run(process.execPath, ['--input-type=module', '--eval', install]);
  const folder = made.stdout.trimEnd().split('\n').at(-1) ?? '';
  if (made.code !== 0 || folder === '')
    throw new Error(
      `the learner's Python packages could not be installed (python3 with venv and pip, a package index, 6 GB free):\n${made.stdout}${made.stderr}`,
    );
  python = join(folder, 'bin', 'python');
});

test('the tests of prime_learner pass', async () => {
  const { code, stdout, stderr } = await run(python, ['-m', 'pytest', '-q', '--durations=5'], {
    cwd: learner,
    env: { ...environment(), PYTHONDONTWRITEBYTECODE: '1', HF_HUB_OFFLINE: '1' },
  });
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toMatch(/\b\d{3,} passed/);
});

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Finished> {
  const child = spawn(command, args, {
    env: environment(),
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (part) => {
    stdout += String(part);
  });
  child.stderr.on('data', (part) => {
    stderr += String(part);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** Without the environment that `npm run test:heavy` activates: the learner has its own. */
function environment(): NodeJS.ProcessEnv {
  const { VIRTUAL_ENV: active, ...rest } = process.env;
  if (active === undefined) return rest;
  const paths = (rest.PATH ?? '').split(':').filter((path) => path !== join(active, 'bin'));
  return { ...rest, PATH: paths.join(':') };
}
