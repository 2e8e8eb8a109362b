import { expect, test } from 'vitest';
import { createPathMapping } from '../../../../src/core/sandbox/path-mapping.ts';

const paths = createPathMapping({
  layer: '/scratch/work',
  toolbox: '/scratch/toolbox',
  workspacePath: '/home/me/project.x',
});

test.each([
  ['/workspace', '/scratch/work'],
  ['cd /workspace/src', 'cd /scratch/work/src'],
  ['cat "/workspace/a b"', 'cat "/scratch/work/a b"'],
  ['PYTHONPATH=/workspace:/workspace/lib', 'PYTHONPATH=/scratch/work:/scratch/work/lib'],
  ['gcc -I/workspace/include', 'gcc -I/scratch/work/include'],
  ['node /opt/prime/reporter.mjs', 'node /scratch/toolbox/reporter.mjs'],
  ['ls /home/me/project.x/src', 'ls /scratch/work/src'],
  ['echo in /workspace.', 'echo in /scratch/work.'],
  ['/workspace\n/workspace', '/scratch/work\n/scratch/work'],
  ['f(/workspace);`/workspace`', 'f(/scratch/work);`/scratch/work`'],
])('%j is mapped', (text, expected) => {
  expect(paths.toHost(text)).toBe(expected);
});

test.each([
  '/workspaces',
  '/workspace-old',
  '/workspace.bak',
  '/home/x/workspace',
  './workspace',
  '$HOME/workspace',
  '~/workspace',
  '/home/me/projectyx',
  '/opt/primes',
])('%j is another path', (text) => {
  expect(paths.toHost(text)).toBe(text);
});
