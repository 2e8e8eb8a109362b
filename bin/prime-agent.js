#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const built = new URL('../dist/cli.js', import.meta.url);
if (!existsSync(fileURLToPath(built))) {
  process.stderr.write(
    'prime-agent is not built yet. Run `npm ci && npm run build` in the checkout.\n',
  );
  process.exitCode = 3;
} else {
  await import(built.href);
}
