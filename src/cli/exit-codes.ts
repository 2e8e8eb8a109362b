/** Exit codes of every command (README.md, Command line). */
export const EXIT = {
  /** All done, all solved. */
  ok: 0,
  /** Not everything is solved. */
  notSolved: 1,
  /** The command line was wrong. */
  usage: 2,
  /** Something outside of the code is missing or broken. */
  environment: 3,
  /** Ctrl-C, as shells report it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
