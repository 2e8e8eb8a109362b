import { Buffer } from 'node:buffer';

/**
 * A filter of system calls, as bubblewrap's `--seccomp` reads it: an array of `struct sock_filter`
 * (linux/filter.h: code u16, jt u8, jf u8, k u32, in the machine's byte order, which is little
 * endian on both architectures). Namespaces and dropped capabilities do the isolating; this takes
 * away what neither covers (the kernel's key rings, which are shared by uid; typing into a terminal)
 * and large parts of the kernel that tests have no use for.
 */

interface Architecture {
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

const CLONE3 = 435;

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
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

const LOAD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const AT_LEAST = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const HAS_BITS = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN = 0x06; // BPF_RET | BPF_K

const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

// Offsets in struct seccomp_data; arguments are 64 bits, the low half comes first.
const NUMBER = 0;
const ARCH = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;

const CLONE_NEWUSER = 0x10000000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const X32 = 0x40000000;

/**
 * Families of sockets that programs and tests have a use for. Others reach further than a network
 * namespace (AF_VSOCK: the hypervisor) or are parts of the kernel that are seldom used and often broken.
 */
const FAMILIES = { AF_UNIX: 1, AF_INET: 2, AF_INET6: 10, AF_NETLINK: 16 } as const;
const SUPERVISOR_PID = 1;

/** The filter for an architecture as Node names it; undefined where none is made. */
export function seccompFilter(arch: string): Buffer | undefined {
  const architecture = ARCHITECTURES[arch];
  if (architecture === undefined) return undefined;
  const program: (readonly [code: number, jt: number, jf: number, k: number])[] = [];
  const refuse = (errno: number): void => {
    program.push([RETURN, 0, 0, ERRNO | errno]);
  };
  program.push([LOAD, 0, 0, ARCH], [EQUAL, 1, 0, architecture.audit]);
  // Programs of another architecture have other numbers: they do not run at all.
  refuse(ENOSYS);
  program.push([LOAD, 0, 0, NUMBER]);
  if (arch === 'x64') {
    program.push([AT_LEAST, 0, 1, X32]);
    refuse(ENOSYS);
  }
  // Its flags lie in memory, where a filter cannot look; libraries fall back to clone.
  program.push([EQUAL, 0, 1, CLONE3]);
  refuse(ENOSYS);
  for (const number of Object.values(architecture.refused)) {
    program.push([EQUAL, 0, 1, number]);
    refuse(EPERM);
  }
  for (const number of [architecture.clone, architecture.unshare]) {
    program.push([EQUAL, 0, 4, number], [LOAD, 0, 0, FIRST_ARGUMENT]);
    program.push([HAS_BITS, 0, 1, CLONE_NEWUSER]);
    refuse(EPERM);
    program.push([RETURN, 0, 0, ALLOW]);
  }
  const families = Object.values(FAMILIES);
  for (const number of [architecture.socket, architecture.socketpair]) {
    program.push([EQUAL, 0, families.length + 3, number], [LOAD, 0, 0, FIRST_ARGUMENT]);
    // Each jumps over the rest of the families and the refusal.
    families.forEach((family, index) => {
      program.push([EQUAL, families.length - index, 0, family]);
    });
    refuse(EAFNOSUPPORT);
    program.push([RETURN, 0, 0, ALLOW]);
  }
  // The same uid may limit the supervisor, whether or not it may trace it.
  program.push([EQUAL, 0, 4, architecture.prlimit64], [LOAD, 0, 0, FIRST_ARGUMENT]);
  program.push([EQUAL, 0, 1, SUPERVISOR_PID]);
  refuse(EPERM);
  program.push([RETURN, 0, 0, ALLOW]);
  program.push([EQUAL, 0, 5, architecture.ioctl], [LOAD, 0, 0, SECOND_ARGUMENT]);
  program.push([EQUAL, 1, 0, TIOCSTI], [EQUAL, 0, 1, TIOCLINUX]);
  refuse(EPERM);
  program.push([RETURN, 0, 0, ALLOW], [RETURN, 0, 0, ALLOW]);
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, jt, jf, k], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jt, index * 8 + 2);
    bytes.writeUInt8(jf, index * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4);
  });
  return bytes;
}
