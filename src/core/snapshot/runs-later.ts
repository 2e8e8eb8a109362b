import { splitPatch } from './patch.ts';

/**
 * Files that run something by themselves: when a folder is opened or entered, at a commit, an
 * install or a push. A fix of a test has no business there, so a person must look first.
 */
const RUNS_LATER =
  /(?:^|\/)(?:\.vscode\/|\.idea\/|\.devcontainer\/|\.devcontainer\.json$|\.husky\/|\.githooks\/|\.github\/workflows\/|\.gitlab-ci\.yml$|\.envrc$|\.npmrc$|\.yarnrc(?:\.yml)?$|\.pnpmfile\.c?js$|\.pre-commit-config\.yaml$|lefthook\.ya?ml$|\.mise\.toml$|\.tool-versions$|\.gitmodules$)/;

const INSTALL_SCRIPT = /^\+.*"(?:pre|post)?(?:install|prepare|prepublish|pack)"\s*:/m;

/** Paths of a patch (git's format) that run later; empty for an ordinary fix. */
export function runsLater(patch: string): readonly string[] {
  return splitPatch(patch)
    .filter(
      (part) =>
        part.touches.some((path) => RUNS_LATER.test(path)) ||
        (/(?:^|\/)package\.json$/.test(part.path) && INSTALL_SCRIPT.test(part.patch)),
    )
    .map((part) => part.path);
}
