import { existsSync } from 'node:fs';
import { homedir, totalmem } from 'node:os';
import { posix } from 'node:path';
import {
  SANDBOX_HOME,
  SANDBOX_HOSTNAME,
  SANDBOX_ID,
  SUPERVISOR_FOLDER,
  SUPERVISOR_STATE,
  temporarySizes,
} from '../inside.ts';
import { TOOLBOX, type Toolchain } from '../sandbox.ts';
import { systemMounts } from './system-files.ts';

/** Options of bubblewrap that not every version has. */
export interface BubblewrapFeatures {
  readonly disableUserns: boolean;
  readonly size: boolean;
  readonly perms: boolean;
}

/** Bytes of memory that this process may use: the machine's, or less in a container. */
function availableMemory(): number {
  // Without a limit it is 0 or larger than any machine.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

const within = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);

/**
 * Folders of tool chains that are mounted: those of /usr are there already; those of the workspace
 * are the snapshot's business; and one that holds the home folder or the workspace would show what
 * must not be seen.
 */
export function toolchainMounts(
  toolchain: Toolchain,
  workspacePath: string,
  home = homedir(),
): string[] {
  const kept: string[] = [];
  for (const mount of toolchain.mounts.map((path) =>
    posix.normalize(path).replace(/(.)\/$/, '$1'),
  )) {
    if (within(mount, '/usr') || within(mount, workspacePath)) continue;
    if (within(home, mount) || within(workspacePath, mount)) continue;
    if (!kept.includes(mount)) kept.push(mount);
  }
  // Outer folders first, so that an inner one is not covered.
  return kept.sort((a, b) => a.length - b.length);
}

/** Namespaces and privileges: everything of its own, and no way to more. */
export function isolationArguments(features: BubblewrapFeatures): string[] {
  return [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(features.disableUserns ? ['--disable-userns'] : []),
    '--cap-drop',
    'ALL',
    '--die-with-parent',
    '--new-session',
    '--as-pid-1',
    '--clearenv',
    '--uid',
    String(SANDBOX_ID),
    '--gid',
    String(SANDBOX_ID),
    '--hostname',
    SANDBOX_HOSTNAME,
  ];
}

/**
 * Files of /proc that steer the kernel. Their permissions are by uid, not by capability, so root's
 * own uid could write them; bubblewrap covers them only where it believes them writable.
 */
function kernelSettings(): string[] {
  const args: string[] = [];
  for (const name of ['sys', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'driver', 'tty', 'mtrr']) {
    if (existsSync(`/proc/${name}`)) args.push('--ro-bind-try', `/proc/${name}`, `/proc/${name}`);
  }
  for (const name of ['sysrq-trigger', 'kcore', 'keys', 'key-users', 'timer_list', 'sched_debug']) {
    if (existsSync(`/proc/${name}`)) args.push('--ro-bind', '/dev/null', `/proc/${name}`);
  }
  return args;
}

/** Arguments up to the mounts of the workspace, which the stage adds (it knows what could be mounted). */
export function baseArguments(input: {
  readonly features: BubblewrapFeatures;
  readonly etc: string;
  readonly toolbox: string;
  readonly supervisor: string;
  readonly toolchain: Toolchain;
  readonly workspacePath: string;
}): string[] {
  const { features } = input;
  const sizes = temporarySizes(availableMemory());
  const tmpfs = (path: string, bytes: number, mode: string): string[] => [
    ...(features.perms ? ['--perms', mode] : []),
    ...(features.size ? ['--size', String(bytes)] : []),
    '--tmpfs',
    path,
  ];
  return [
    ...isolationArguments(features),
    ...systemMounts(input.etc),
    '--proc',
    '/proc',
    ...kernelSettings(),
    '--dev',
    '/dev',
    ...tmpfs('/dev/shm', sizes.shm, '1777'),
    // The supervisor needs /dev/fd and /dev/null. What is mounted below (pts, shm) stays writable.
    ...['--remount-ro', '/dev'],
    ...tmpfs('/tmp', sizes.tmp, '1777'),
    ...tmpfs('/var/tmp', sizes.home, '1777'),
    ...tmpfs(SANDBOX_HOME, sizes.home, '0755'),
    ...tmpfs(SUPERVISOR_STATE, sizes.state, '0700'),
    ...toolchainMounts(input.toolchain, input.workspacePath).flatMap((path) => [
      '--ro-bind-try',
      path,
      path,
    ]),
    '--ro-bind',
    input.toolbox,
    TOOLBOX,
    '--ro-bind',
    input.supervisor,
    SUPERVISOR_FOLDER,
  ];
}
