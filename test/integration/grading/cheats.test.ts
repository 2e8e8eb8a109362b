import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseSandbox } from '../../../src/core/sandbox/providers.ts';
import { suiteFolder } from '../../support/temp.ts';
import { casesTable, gradeCases } from './grade-cases.ts';

const CASES_DOCUMENT = '../../../docs/grading-cases.md';

const folder = suiteFolder();

describe('grading of patches written to deceive it, and of honest ones next to them', () => {
  it('decides as docs/grading-cases.md says', { timeout: 600_000 }, async () => {
    const sandbox = await chooseSandbox('auto', { stateDir: join(folder(), 'state') });
    if (sandbox.kind !== 'available') throw new Error(JSON.stringify(sandbox));
    const { provider } = sandbox;
    const results = await gradeCases({ folder: folder(), provider, timeoutMs: 15_000 });
    await expect(casesTable(results)).toMatchFileSnapshot(CASES_DOCUMENT);
  });
});
