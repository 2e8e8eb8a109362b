import { describe, expect, it } from 'vitest';
import { canonical, scaffoldHash } from '../../../src/core/agent/scaffold.ts';
import { currentScaffold, currentScaffoldHash } from '../../../src/core/fix/scaffold.ts';

describe('the scaffold', () => {
  it('is pinned: a change of what a model reads must be a decision', async () => {
    await expect(`${JSON.stringify(currentScaffold(), null, 2)}\n`).toMatchFileSnapshot(
      'golden/scaffold.json',
    );
    await expect(`${currentScaffoldHash()}\n`).toMatchFileSnapshot('golden/scaffold-hash.txt');
  });

  it('has the same hash whatever the order of keys', () => {
    expect(canonical({ b: 1, a: [{ d: 1, c: 2 }] })).toBe(canonical({ a: [{ c: 2, d: 1 }], b: 1 }));
  });

  it('has another hash when one word of an observation changes', () => {
    const scaffold = currentScaffold();
    const changed = {
      ...scaffold,
      observations: { ...scaffold.observations, bash: { x: 'other' } },
    };
    expect(scaffoldHash(changed)).not.toBe(scaffoldHash(scaffold));
  });
});
