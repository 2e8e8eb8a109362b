// `npm run package [-- --target linux-x64] [-- --out FILE]`: the extension as a VSIX for one platform.
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkNode, fail, installDependencies, root, say, step } from './lib/steps.mjs';

checkNode();
await installDependencies();
// After the packages are there that they need.
const { currentTarget, makeVsix, vsixName } = await import('./lib/vsix.mjs');
const { checkVsix, ENTRY_LIMIT } = await import('./lib/vsix-check.mjs');

const { values } = parseArgs({
  options: { target: { type: 'string', default: currentTarget() }, out: { type: 'string' } },
});
const file = resolve(values.out ?? join(root, vsixName(values.target)));
const policy = existsSync(join(root, 'policies', 'nano', 'policy.json'));

const { native } = await step(`Packing for ${values.target}`, () =>
  makeVsix(values.target, file),
).catch((error) => fail(`The extension could not be packed: ${error.message}`, 1));
const { problems, entries, bytes, entryBytes } = await step('Checking what is in it', () =>
  checkVsix(file, { target: values.target, native, policy, checkout: root }),
);
if (problems.length > 0) {
  rmSync(file, { force: true });
  fail(`The VSIX is not fit to be used, and was deleted:\n  ${problems.join('\n  ')}`, 1);
}
const largest = [...entries].sort((a, b) => b.packed - a.packed).slice(0, 5);
say(`${file}`);
say(`${entries.length} files, ${megabytes(bytes)} packed. The largest:`);
for (const { path, packed, size } of largest) {
  say(`  ${megabytes(packed).padStart(8)}  (${megabytes(size)} unpacked)  ${path}`);
}
say(
  `Activation loads ${Math.round(entryBytes / 1024)} kB (limit ${ENTRY_LIMIT / 1024} kB), without ONNX Runtime, dockerode and ws.`,
);
if (!native)
  say(
    `! ONNX Runtime has no native library for ${values.target}: WASM does its work, more slowly.`,
  );
if (!policy)
  say('! Without the embedded policy: policies/nano is not there (npm run policy:nano).');
say(`Install it with: code --install-extension ${file}`);

function megabytes(count) {
  return `${(count / 1e6).toFixed(1)} MB`;
}
