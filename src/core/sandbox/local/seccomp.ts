import { Buffer } from 'node:buffer';
import {
  ARCHITECTURES,
  CLONE_NEWUSER,
  CLONE3,
  EAFNOSUPPORT,
  ENOSYS,
  EPERM,
  FAMILIES,
  SUPERVISOR_PID,
  TIOCLINUX,
  TIOCSTI,
} from '../system-calls.ts';

/**
 * The filter of system calls (see `system-calls.ts`), as bubblewrap's `--seccomp` reads it: an array
 * of `struct sock_filter` (linux/filter.h: code u16, jt u8, jf u8, k u32, in the machine's byte
 * order, which is little endian on both architectures).
 */

const LOAD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const AT_LEAST = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const HAS_BITS = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN = 0x06; // BPF_RET | BPF_K

const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;

// Offsets in struct seccomp_data; arguments are 64 bits, the low half comes first.
const NUMBER = 0;
const ARCH = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;

const X32 = 0x40000000;

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
