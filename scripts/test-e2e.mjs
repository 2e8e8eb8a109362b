// `npm run test:e2e`: the packaged extension in a real VS Code in Chromium (docs/e2e.md).
// Arguments are passed on to vitest: npm run test:e2e -- -t palette
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  checkNode,
  fail,
  installDependencies,
  installSystemPackages,
  pythonEnvironment,
  root,
  run,
  step,
} from './lib/steps.mjs';
import { VscodeWebProblem, vscodeWeb } from './lib/vscode-web.mjs';
import { installExtension } from './lib/vscode-web-server.mjs';

checkNode();
await installSystemPackages({ yes: process.argv.includes('--yes') });
await installDependencies();
const python = await pythonEnvironment();
const vscode = await vscodeWeb().catch((error) => {
  if (error instanceof VscodeWebProblem) fail(error.message);
  throw error;
});

/** Outside the checkout, so that nothing of it can be found by accident. */
const folder = mkdtempSync(join(tmpdir(), 'prime-agent-e2e-'));
try {
  const extensions = join(folder, 'extensions');
  const userData = join(folder, 'install');
  for (const each of [extensions, userData]) mkdirSync(each);
  const vsix = process.env.PRIME_AGENT_VSIX ?? join(folder, 'prime-agent.vsix');
  if (!process.env.PRIME_AGENT_VSIX) {
    const code = await step('Packaging the extension', () =>
      run(process.execPath, [join(root, 'scripts/package.mjs'), '--out', vsix]),
    );
    if (code !== 0) fail('The extension could not be packaged (see above).');
  }
  await step('Installing it into VS Code', () =>
    installExtension(vscode, vsix, { extensions, userData }),
  );
  const env = {
    ...process.env,
    PRIME_AGENT_E2E: JSON.stringify({
      vscode,
      extensions,
      failures: join(root, '.prime-agent', 'e2e'),
    }),
  };
  if (python) {
    env.VIRTUAL_ENV = python;
    env.PATH = `${join(python, 'bin')}:${env.PATH}`;
  }
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const given = process.argv.slice(2).filter((argument) => argument !== '--yes');
  process.exitCode = await run(process.execPath, [vitest, 'run', '--project=e2e', ...given], {
    env,
    show: true,
  });
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
