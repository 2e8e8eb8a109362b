import type { Toolchain } from './sandbox.ts';

/** Variables that keep tools from paging, animating, colouring or asking. */
const QUIET: Readonly<Record<string, string>> = {
  PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_PAGER: 'cat',
  LESS: '-R',
  PIP_PROGRESS_BAR: 'off',
  TQDM_DISABLE: '1',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  CI: '1',
  NO_COLOR: '1',
  TERM: 'dumb',
  SHELL: '/bin/bash',
};

export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The whole environment of commands; nothing of the host's environment is in it. */
export function sandboxEnvironment(
  toolchain: Toolchain,
  place: {
    readonly home: string;
    readonly tmp: string;
    readonly user: string;
    /** Folders of the system's programs; an image has its own. */
    readonly path?: string;
  },
): Record<string, string> {
  return {
    ...QUIET,
    ...toolchain.env,
    PATH: [...toolchain.path, place.path ?? SYSTEM_PATH].join(':'),
    HOME: place.home,
    USER: place.user,
    LOGNAME: place.user,
    TMPDIR: place.tmp,
  };
}
