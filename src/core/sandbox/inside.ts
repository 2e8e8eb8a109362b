import { WORKSPACE } from './sandbox.ts';

/** What an isolated sandbox looks like inside, whoever isolates it. */

/** Where the supervisor's program and its private, writable folder are seen inside. */
export const SUPERVISOR_FOLDER = '/run/prime';
export const SUPERVISOR_STATE = '/run/prime-state';

/** uid and gid of commands inside. */
export const SANDBOX_ID = 1000;
export const SANDBOX_HOME = '/home/user';
export const SANDBOX_HOSTNAME = 'sandbox';

export function passwdFile(id: number): string {
  return `root:x:0:0:root:/nonexistent:/usr/sbin/nologin
user:x:${id}:${id}:user:${SANDBOX_HOME}:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`;
}

export function groupFile(id: number): string {
  return `root:x:0:\nuser:x:${id}:\nnogroup:x:65534:\n`;
}

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/**
 * Sizes in bytes of what lies in memory inside, from the machine's memory in bytes: `/tmp`; the home
 * folder and `/var/tmp` (each); `/dev/shm`; the supervisor's folder. The memory killer cannot free
 * these, so together they stay below the whole.
 */
export function temporarySizes(memoryBytes: number): {
  readonly tmp: number;
  readonly home: number;
  readonly shm: number;
  readonly state: number;
} {
  const part = (divisor: number, most: number): number =>
    Math.min(Math.floor(memoryBytes / divisor), most);
  return {
    tmp: part(4, 4 * GIB),
    home: part(8, 2 * GIB),
    shm: part(16, 512 * MIB),
    state: part(16, 512 * MIB),
  };
}

/** Where the snapshot is seen: `/workspace` first, then the user's own path. */
export function workspacePlaces(workspacePath: string): string[] {
  return workspacePath === WORKSPACE || workspacePath === '/'
    ? [WORKSPACE]
    : [WORKSPACE, workspacePath];
}

/**
 * The supervisor's program is a copy of bash that can be executed but not read: the kernel then
 * makes its process non-dumpable, and commands, although they have the same uid, can neither trace
 * it nor open its descriptors, where they could forge control lines. The same goes for the two
 * programs that it gives the host's streams to.
 */
export const SUPERVISOR_PROGRAMS = ['bash', 'cat', 'head'] as const;

/**
 * The supervisor's own files of /proc are closed to itself as well, so the one that sets
 * its place in the kernel's order of memory victims is opened before, as descriptor 4. Container
 * engines set two variables that say where one is.
 */
const OPEN_MEMORY_SCORE =
  'unset HOSTNAME container; exec 4<>/proc/self/oom_score_adj || exec 4<>/dev/null; exec -- "$@"';

/** The command that becomes the supervisor, as process 1. `processes` 0: not limited by it. */
export function supervisorCommand(limits: {
  readonly fileBytes: number;
  readonly processes: number;
}): string[] {
  return [
    ...['/bin/bash', '--noprofile', '--norc', '-c', OPEN_MEMORY_SCORE, 'bash'],
    `${SUPERVISOR_FOLDER}/bash`,
    '--noprofile',
    '--norc',
    `${SUPERVISOR_FOLDER}/supervisor.sh`,
    ...['ns', SUPERVISOR_STATE, WORKSPACE, '/bin/bash'],
    String(Math.max(1, Math.floor(limits.fileBytes / 1024))),
    String(limits.processes),
  ];
}
