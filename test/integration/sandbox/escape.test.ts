import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ESCAPE_ATTEMPTS } from './escape-attempts.ts';
import type { EscapeResults } from './escape-program.ts';
import {
  createEscapeRunner,
  documentedTable,
  type EscapeRunner,
  escapeTable,
  ORDINARY,
} from './run-escapes.ts';

const root = process.getuid?.() === 0;

let runner: EscapeRunner;
let asUser: EscapeResults;
let asRoot: EscapeResults | undefined;
let control: EscapeResults;

beforeAll(async () => {
  runner = await createEscapeRunner();
  asUser = runner.run(ORDINARY, ['local']);
  asRoot = root ? runner.run(undefined, ['local']) : undefined;
  // Never as root: there the attempts would succeed on this machine.
  control = runner.run(ORDINARY, ['none']);
});
afterAll(() => runner.remove());

describe('escapes from the local sandbox', () => {
  test.each(ESCAPE_ATTEMPTS.map(({ name }) => name))('%s: blocked for an ordinary user', (name) => {
    expect(asUser.uid).not.toBe(0);
    expect(asUser.results[name]?.said).toMatch(/^blocked/);
  });

  test.each(ESCAPE_ATTEMPTS.map(({ name }) => name))('%s: blocked for root', (name) => {
    if (asRoot !== undefined) expect(asRoot.results[name]?.said).toMatch(/^blocked/);
    else expect(root).toBe(false);
  });

  test.each([
    'read ssh keys and the home folder',
    'read other repositories',
    'find secrets of the environment',
    'connect to a server of the host over TCP',
    'connect to Unix sockets of the host, abstract and in files',
    'see, signal and trace processes of the host',
    'write outside the snapshot and the temporary folders',
    'share memory with the host (/dev/shm, System V)',
  ])('without isolation the attempt succeeds, so it is one: %s', (name) => {
    expect(control.results[name]?.said).toMatch(/^ESCAPED/);
  });

  test('nothing of the host changed, and nobody connected', () => {
    for (const outcome of [asUser, asRoot]) {
      if (outcome !== undefined) expect(outcome).toMatchObject({ hostChanges: [], connections: 0 });
    }
  });

  test('the table in docs/sandbox.md is what ran', () => {
    expect(documentedTable('sandbox.md')).toBe(escapeTable(asRoot, asUser, 'local'));
  });
});
