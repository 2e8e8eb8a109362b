import { chmodSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_IMAGE, type TestEngine } from '../../support/docker-engine.ts';
import { ESCAPE_ATTEMPTS } from './escape-attempts.ts';
import type { EscapeResults } from './escape-program.ts';
import {
  createEscapeRunner,
  documentedTable,
  type EscapeRunner,
  escapeTable,
  ORDINARY,
} from './run-escapes.ts';

/** The attempts in containers: the engine is root's, whoever asks it. */
export function describeDockerEscapes(engine: TestEngine): void {
  describe('escapes from the Docker sandbox', () => {
    let runner: EscapeRunner;
    let asRoot: EscapeResults;
    let asUser: EscapeResults;
    beforeAll(async () => {
      runner = await createEscapeRunner();
      // As for a member of the group `docker`.
      const socket = engine.host.replace('unix://', '');
      chmodSync(engine.home, 0o711);
      chmodSync(socket, 0o666);
      try {
        asRoot = runner.run(undefined, ['docker', TEST_IMAGE], engine.variables);
        asUser = runner.run(ORDINARY, ['docker', TEST_IMAGE], engine.variables);
      } finally {
        chmodSync(socket, 0o660);
      }
    });
    afterAll(() => runner.remove());

    test.each(ESCAPE_ATTEMPTS.map(({ name }) => name))('%s: blocked', (name) => {
      expect(asUser.uid).not.toBe(0);
      expect(asRoot.results[name]?.said).toMatch(/^blocked/);
      expect(asUser.results[name]?.said).toMatch(/^blocked/);
    });

    test('nothing of the host changed, and nobody connected', () => {
      for (const outcome of [asRoot, asUser]) {
        expect(outcome).toMatchObject({ hostChanges: [], connections: 0 });
      }
    });

    test('the table in docs/docker.md is what ran', () => {
      expect(documentedTable('docker.md')).toBe(escapeTable(asRoot, asUser, 'docker'));
    });
  });
}

/** On another engine, asked by the user of the tests: what the table of Docker says holds there as well. */
export function describeNoEscape(engine: TestEngine): void {
  test('no attempt to escape succeeds, nothing of the host changed, and nobody connected', async () => {
    const runner = await createEscapeRunner();
    try {
      const outcome = runner.run(undefined, ['docker', TEST_IMAGE], engine.variables);
      const said = ESCAPE_ATTEMPTS.map(({ name }) => [name, outcome.results[name]?.said ?? '']);
      expect(said.filter(([, text]) => !text?.startsWith('blocked'))).toEqual([]);
      expect(outcome).toMatchObject({ hostChanges: [], connections: 0 });
    } finally {
      runner.remove();
    }
  });
}
