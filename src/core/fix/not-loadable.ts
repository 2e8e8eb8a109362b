import type { Baseline } from '../grading/types.ts';
import { type PrepareProblem, problem } from './prepare.ts';

const MISSING_PACKAGE =
  /ModuleNotFoundError|ERR_MODULE_NOT_FOUND\]?: Cannot find package|Cannot find module '[^./]/;

/** Test files that cannot be loaded have no tests that could be targets: what to do about them. */
export function notLoadable(errors: Baseline['collectionErrors']): PrepareProblem {
  const lines = errors.map(
    ({ file, message }) => `${file} could not be loaded: ${firstLine(message)}`,
  );
  const reason = lines.join('\n');
  const packages = errors.every(({ message }) => MISSING_PACKAGE.test(message));
  return packages
    ? problem(
        'environment',
        reason,
        'A package is missing. Install the dependencies of the project, and see with which programs it is run: prime-agent doctor.',
      )
    : problem(
        'not-loadable',
        reason,
        'Mend this first: tests that cannot be loaded cannot be told apart, so no attempt was made.',
      );
}

export function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}
