/**
 * Always left out, whether or not the repository ignores it: dependency folders and what test runs
 * leave behind. Tracked files are not concerned. Syntax of .gitignore.
 */
export const ALWAYS_IGNORED = [
  'node_modules/',
  '.venv/',
  '.tox/',
  '.nox/',
  '__pypackages__/',
  '__pycache__/',
  '*.py[co]',
  '.pytest_cache/',
  '.mypy_cache/',
  '.ruff_cache/',
  '.hypothesis/',
  '.coverage',
  '.coverage.*',
  '.nyc_output/',
  '.DS_Store',
  'Thumbs.db',
] as const;

/** Folders without git have no rules of their own: what would be ignored nearly everywhere. */
export const IGNORED_WITHOUT_GIT = [
  ...ALWAYS_IGNORED,
  '.hg/',
  '.svn/',
  '.env',
  '.env.*',
  '!.env.example',
  '!.env.sample',
  '!.env.template',
  '.ssh/',
  '.aws/',
  '.gnupg/',
  '.idea/',
  '*.egg-info/',
  '.gradle/',
  '.cache/',
  'bower_components/',
] as const;
