import { describe, expect, it } from 'vitest';
import { readGuidance } from '../../../src/core/agent/guidance.ts';

const workspace = (files: Record<string, string>) => ({
  readText: async (path: string) => files[path],
});

describe('guidance of the repository', () => {
  it('prefers AGENTS.md and takes it whole', async () => {
    const text = await readGuidance(
      workspace({ 'AGENTS.md': 'Use tabs.\n', 'CONTRIBUTING.md': '# Tests\nx' }),
    );
    expect(text).toBe('Use tabs.');
  });

  it('takes from CONTRIBUTING.md only what speaks of tests, style or code', async () => {
    const text = await readGuidance(
      workspace({
        'CONTRIBUTING.md': '# Welcome\nhello\n\n## Running tests\nnpm test\n\n## Licence\nMIT\n',
      }),
    );
    expect(text).toBe('## Running tests\nnpm test');
  });

  it('is cut to what fits, and says so', async () => {
    const text = await readGuidance(workspace({ 'AGENTS.md': 'a line\n'.repeat(1000) }));
    expect(text?.length).toBeLessThan(2_100);
    expect(text).toMatch(/the rest is left out/);
  });

  it('is nothing where the repository says nothing', async () => {
    expect(await readGuidance(workspace({}))).toBeUndefined();
  });
});
