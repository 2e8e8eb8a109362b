import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The container engines that tests can start, each from the packages of Debian. */
export type EngineKind = 'docker' | 'podman' | 'rootless';

/** Whom a daemon runs as. */
export interface EngineUser {
  readonly uid: number;
  readonly gid: number;
}

interface Daemon {
  readonly programs: readonly string[];
  /** Packages that bring them. */
  readonly debian: string;
  readonly storages: readonly string[];
  /** Absent: root. A text: why there is none. */
  readonly user?: () => EngineUser | string;
  command(place: {
    readonly folder: string;
    readonly dataRoot: string;
    readonly storage: string;
    readonly host: string;
  }): readonly string[];
}

export const SYSTEM_FOLDERS = [
  ...['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin', '/usr/local/bin'],
  '/usr/share/docker.io/contrib',
];

export function findProgram(name: string, ownFirst = false): string | undefined {
  const path = (process.env.PATH ?? '').split(':');
  const folders = ownFirst ? ['/usr/bin', ...path] : [...SYSTEM_FOLDERS, ...path];
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

const NO_NETWORK = ['--iptables=false', '--ip6tables=false', '--bridge=none'];

export const DAEMONS: Readonly<Record<EngineKind, Daemon>> = {
  docker: {
    programs: ['dockerd', 'containerd', 'runc', 'setpriv'],
    debian: 'docker.io',
    storages: ['overlay2', 'vfs'],
    command: ({ folder, dataRoot, storage, host }) => [
      ...['dockerd', `--storage-driver=${storage}`, ...NO_NETWORK],
      ...['--data-root', dataRoot, '--exec-root', join(folder, 'exec')],
      ...['--host', host, '--pidfile', join(folder, 'docker.pid')],
    ],
  },
  podman: {
    programs: ['podman', 'conmon', 'runc', 'setpriv'],
    debian: 'podman',
    storages: ['overlay', 'vfs'],
    command: ({ folder, dataRoot, storage, host }) => [
      ...['podman', '--runtime', 'runc', '--root', dataRoot, '--runroot', join(folder, 'exec')],
      ...['--tmpdir', join(folder, 'libpod'), '--storage-driver', storage],
      ...['--cgroup-manager', 'cgroupfs', '--events-backend', 'none'],
      ...['system', 'service', '--time', '0', host],
    ],
  },
  // It listens at docker.sock of its runtime folder. Containers here have no network, so the
  // machine's is as good as one made by slirp4netns, which needs a /dev/net/tun for everybody.
  rootless: {
    programs: ['dockerd-rootless.sh', 'rootlesskit', 'newuidmap', 'dockerd', 'setpriv', 'env'],
    debian: 'docker.io rootlesskit uidmap',
    storages: ['overlay2', 'vfs'],
    user: findSubordinateUser,
    command: ({ dataRoot, storage }) => [
      ...['env', 'DOCKERD_ROOTLESS_ROOTLESSKIT_NET=host'],
      ...['DOCKERD_ROOTLESS_ROOTLESSKIT_PORT_DRIVER=none', 'dockerd-rootless.sh'],
      ...[`--storage-driver=${storage}`, ...NO_NETWORK, '--data-root', dataRoot],
    ],
  },
};

/** The first ordinary user who has ids for users of containers. */
function findSubordinateUser(): EngineUser | string {
  const read = (file: string): string[][] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .map((line) => line.split(':'))
      : [];
  const names = new Set(read('/etc/subuid').map(([name = '']) => name));
  const user = read('/etc/passwd').find(
    ([name = '', , uid]) => names.has(name) && name !== '' && uid !== '0',
  );
  if (user === undefined) {
    return 'no ordinary user has subordinate ids in /etc/subuid (`useradd -m somebody` makes one)';
  }
  return { uid: Number(user[2]), gid: Number(user[3]) };
}
