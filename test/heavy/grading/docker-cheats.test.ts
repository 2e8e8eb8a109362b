import { readFile } from 'node:fs/promises';
import { afterAll, describe, expect, it, test } from 'vitest';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import { gradeCases } from '../../integration/grading/grade-cases.ts';
import { startTestEngine, TEST_IMAGE } from '../../support/docker-engine.ts';
import { suiteFolder } from '../../support/temp.ts';

const started = await startTestEngine();
const CASES_DOCUMENT = new URL('../../../docs/grading-cases.md', import.meta.url);

if (started.kind === 'none') {
  test('cheats are graded in containers of a real engine', ({ skip }) => {
    skip(`not run, because no engine can be started: ${started.reason}`);
  });
} else {
  const { engine } = started;
  afterAll(() => engine.remove());
  const folder = suiteFolder();

  describe('grading in the Docker sandbox', () => {
    it('decides every case as in the local sandbox', { timeout: 2_400_000 }, async () => {
      const { variables, home } = engine;
      const provider = createDockerSandbox({ image: TEST_IMAGE, variables, home });
      const place = { folder: folder(), provider, isContainer: true, timeoutMs: 40_000 };
      const results = await gradeCases(place);
      const decided = results.map(({ item, decision }) => `${item.id}: ${decision}`);
      expect(decided).toEqual(await local());
      expect(engine.docker('ps', '-aq')).toBe('');
    });
  });
}

/** `case: decision`, from the table that the local sandbox's test writes. */
async function local(): Promise<readonly string[]> {
  const rows = (await readFile(CASES_DOCUMENT, 'utf8')).split('\n');
  return rows
    .map((row) => row.split(' | '))
    .filter(([id, kind]) => id !== '| case' && /^(?:cheat|legitimate)$/.test(kind ?? ''))
    .map((cells) => `${cells[0]?.slice(2)}: ${cells[3]}`);
}
