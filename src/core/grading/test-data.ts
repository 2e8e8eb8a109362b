import { posix } from 'node:path';
import type { PatchPart } from '../snapshot/patch-format.ts';
import { languageOf } from './added-code.ts';
import type { TestContext } from './test-context.ts';
import type { GradeFlag } from './types.ts';

/** Files that both code and its manifest's readers share; their steering keys are restored anyway. */
const MANIFEST = /^(?:package\.json|pyproject\.toml|setup\.cfg|tox\.ini|tsconfig\.json)$/;

/** Changed data that a test file names: it may hold what the tests expect. */
export function flagTestData(
  parts: readonly PatchPart[],
  context: TestContext,
): readonly GradeFlag[] {
  return parts
    .filter(({ path, status }) => {
      const name = posix.basename(path);
      const language = languageOf(path);
      if (status === 'added' || MANIFEST.test(name)) return false;
      return (language === 'prose' || language === undefined) && context.mentions(name);
    })
    .map(({ path }) => ({
      rule: 'test-data',
      file: path,
      explanation: 'changes data that a test file names',
    }));
}
