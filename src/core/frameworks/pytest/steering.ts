import { isDeepStrictEqual } from 'node:util';
import { parse as parseToml } from 'smol-toml';
import type { Steering } from '../framework.ts';
import { restoreSections, splitSections } from '../sections.ts';
import { isPytestName } from './detect.ts';

const STEERING_FILE =
  /(?:^|\/)(?:pytest\.ini|\.pytest\.ini|pytest\.toml|\.pytest\.toml|sitecustomize\.py|usercustomize\.py|\.python-version|\.coveragerc)$|\.pth$/;
/** Modules of the workspace that would be imported in place of the runner's own. */
const SHADOWS = /(?:^|\/)(?:pytest|_pytest|pluggy|iniconfig|unittest)(?:\.py$|\/)/;
const TEST_FOLDER = /(?:^|\/)(?:tests?|fixtures|__snapshots__|snapshots|cassettes)\//;

export const pytestSteering: Steering = {
  isTestFile: (path) =>
    isPytestName(path) || /(?:^|\/)conftest\.py$/.test(path) || TEST_FOLDER.test(path),
  isSteeringFile: (path) => STEERING_FILE.test(path) || SHADOWS.test(path),
  restoreKeys: (path, before, after) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    switch (name) {
      case 'setup.cfg':
        return restoreIni(before, after, (section) => section === 'tool:pytest');
      case 'tox.ini':
        return restoreIni(
          before,
          after,
          (section) => section === 'pytest' || section === 'testenv',
        );
      case 'pyproject.toml':
        return restoreToml(before, after);
      default:
        return undefined;
    }
  },
};

function restoreIni(
  before: string | undefined,
  after: string,
  steers: (name: string) => boolean,
): string {
  const text = restoreSections(before, after, steers, false);
  const own = (source: string): readonly string[] =>
    splitSections(source, false)
      .filter(({ name }) => name !== undefined && steers(name))
      .map(({ lines }) => lines.join('').trim());
  return isDeepStrictEqual(own(text), own(before ?? '')) ? text : (before ?? '');
}

const isSteeringTable = (name: string): boolean =>
  /^tool\.pytest(?:\.|$)/.test(name) ||
  name === 'project.entry-points.pytest11' ||
  /^tool\.coverage(?:\.|$)/.test(name);

/** What steers, read by a real parser: keys can be written in many ways. undefined: not TOML. */
function steeringTables(text: string): unknown {
  try {
    const file = parseToml(text) as {
      tool?: { pytest?: unknown; coverage?: unknown };
      project?: { 'entry-points'?: { pytest11?: unknown } };
    };
    const { pytest = null, coverage = null } = file.tool ?? {};
    return { pytest, coverage, plugins: file.project?.['entry-points']?.pytest11 ?? null };
  } catch {
    return undefined;
  }
}

function restoreToml(before: string | undefined, after: string): string {
  const wanted = steeringTables(before ?? '');
  // Unchanged in meaning: every byte of `after` stays.
  if (wanted !== undefined && isDeepStrictEqual(steeringTables(after), wanted)) return after;
  const text = restoreSections(before, after, isSteeringTable, true);
  if (wanted !== undefined && isDeepStrictEqual(steeringTables(text), wanted)) return text;
  // Written in a way that cannot be taken apart, or no TOML: the whole file as it was.
  return before ?? '';
}
