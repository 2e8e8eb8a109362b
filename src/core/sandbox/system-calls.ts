/**
 * System calls that commands in a sandbox have no use for. Namespaces and dropped capabilities do the
 * isolating; this takes away what neither covers (the kernel's key rings, which are shared by uid;
 * typing into a terminal) and large parts of the kernel. `local/seccomp.ts` makes a filter of it for
 * bubblewrap, `docker/seccomp.ts` a profile for container engines.
 */

export interface Architecture {
  /** AUDIT_ARCH_* of linux/audit.h. */
  readonly audit: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly ioctl: number;
  readonly clone: number;
  readonly unshare: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly prlimit64: number;
}

/** Numbers that are the same on all architectures since Linux 5.1. */
const COMMON = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  quotactl_fd: 443,
} as const;

export const CLONE3 = 435;

export const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    ioctl: 16,
    clone: 56,
    unshare: 272,
    socket: 41,
    socketpair: 53,
    prlimit64: 302,
    refused: {
      ...COMMON,
      syslog: 103,
      pivot_root: 155,
      acct: 163,
      mount: 165,
      umount2: 166,
      swapon: 167,
      swapoff: 168,
      reboot: 169,
      init_module: 175,
      delete_module: 176,
      quotactl: 179,
      kexec_load: 246,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      perf_event_open: 298,
      open_by_handle_at: 304,
      setns: 308,
      finit_module: 313,
      kexec_file_load: 320,
      bpf: 321,
      userfaultfd: 323,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    ioctl: 29,
    clone: 220,
    unshare: 97,
    socket: 198,
    socketpair: 199,
    prlimit64: 261,
    refused: {
      ...COMMON,
      umount2: 39,
      mount: 40,
      pivot_root: 41,
      quotactl: 60,
      acct: 89,
      kexec_load: 104,
      init_module: 105,
      delete_module: 106,
      syslog: 116,
      reboot: 142,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      swapon: 224,
      swapoff: 225,
      perf_event_open: 241,
      open_by_handle_at: 265,
      setns: 268,
      finit_module: 273,
      bpf: 280,
      userfaultfd: 282,
      kexec_file_load: 294,
    },
  },
};

export const EPERM = 1;
export const ENOSYS = 38;
export const EAFNOSUPPORT = 97;

export const CLONE_NEWUSER = 0x10000000;
export const TIOCSTI = 0x5412;
export const TIOCLINUX = 0x541c;

/**
 * Families of sockets that programs and tests have a use for. Others reach further than a network
 * namespace (AF_VSOCK: the hypervisor) or are parts of the kernel that are seldom used and often broken.
 */
export const FAMILIES = { AF_UNIX: 1, AF_INET: 2, AF_INET6: 10, AF_NETLINK: 16 } as const;
export const SUPERVISOR_PID = 1;
