// `npm run pack [-- --out FILE]`: the command line and the training server as one tarball for `npm install`.
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkNode, fail, installDependencies, root, say, step } from './lib/steps.mjs';

checkNode();
await installDependencies();
// After the packages are there that it needs.
const { makeTarball, tarballName } = await import('./lib/tarball.mjs');

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const file = resolve(values.out ?? join(root, tarballName()));
const { problems, entries, bytes, unpacked } = await step('Packing', () => makeTarball(file)).catch(
  (error) => fail(`The package could not be made: ${error.message}`, 1),
);
if (problems.length > 0) {
  rmSync(file, { force: true });
  fail(`The package is not fit to be used, and was deleted:\n  ${problems.join('\n  ')}`, 1);
}
say(file);
say(
  `${entries.length} files, ${megabytes(bytes)} packed, ${megabytes(unpacked)} unpacked. The largest:`,
);
for (const { path, size } of [...entries].sort((a, b) => b.size - a.size).slice(0, 5)) {
  say(`  ${megabytes(size).padStart(8)}  ${path}`);
}
say(`Install it with: npm install ${file}`);

function megabytes(count) {
  return `${(count / 1e6).toFixed(1)} MB`;
}
