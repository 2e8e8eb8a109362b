import { describe, expect, it } from 'vitest';
import { runsLater } from '../../../src/core/snapshot/runs-later.ts';

const patch = (path: string, added: string) =>
  `diff --git a/${path} b/${path}\nindex 1111111..2222222 100644\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+${added}\n`;

describe('files that run something by themselves', () => {
  it.each([
    '.vscode/tasks.json',
    '.envrc',
    '.husky/pre-commit',
    'app/.devcontainer/devcontainer.json',
    '.github/workflows/ci.yml',
  ])('names %s', (path) => {
    expect(runsLater(patch('src/a.js', 'b') + patch(path, 'b'))).toEqual([path]);
  });

  it('names a manifest that gets an install script, and no other change of it', () => {
    expect(runsLater(patch('package.json', '    "postinstall": "node x.js",'))).toEqual([
      'package.json',
    ]);
    expect(runsLater(patch('package.json', '    "version": "2.0.0",'))).toEqual([]);
  });

  it('leaves ordinary sources alone', () => {
    expect(runsLater(patch('src/install.js', 'b') + patch('docs/envrc.md', 'b'))).toEqual([]);
  });
});
