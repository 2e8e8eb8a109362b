import {
  ARCHITECTURES,
  CLONE_NEWUSER,
  EAFNOSUPPORT,
  ENOSYS,
  EPERM,
  FAMILIES,
  SUPERVISOR_PID,
  TIOCLINUX,
  TIOCSTI,
} from '../system-calls.ts';

interface Rule {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ERRNO';
  readonly errnoRet: number;
  readonly args?: readonly {
    readonly index: number;
    readonly value: number;
    readonly valueTwo?: number;
    readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_GE' | 'SCMP_CMP_MASKED_EQ';
  }[];
}

/** Arguments are compared with 64 bits, but the kernel takes 32 of these. */
const LOW_HALF = 0xffffffff;
/** More than the kernel has families of sockets; anything above is compared as a whole. */
const FAMILY_COUNT = 64;

/**
 * The profile of system calls for `--security-opt seccomp=`, as text: the same calls as in the local
 * sandbox's filter are refused, by name, so that it fits an engine of either architecture. Programs
 * of other architectures do not run (libseccomp ends them).
 */
export function seccompProfile(): string {
  const refused = new Set(
    Object.values(ARCHITECTURES).flatMap((architecture) => Object.keys(architecture.refused)),
  );
  const rule = (names: readonly string[], errnoRet: number, args?: Rule['args']): Rule => ({
    names,
    action: 'SCMP_ACT_ERRNO',
    errnoRet,
    ...(args && { args }),
  });
  const masked = (
    index: number,
    mask: number,
    value: number,
  ): NonNullable<Rule['args']>[number] => ({
    index,
    value: mask,
    valueTwo: value,
    op: 'SCMP_CMP_MASKED_EQ',
  });
  const allowed = new Set<number>(Object.values(FAMILIES));
  const families: Rule[] = [];
  const sockets = ['socket', 'socketpair'];
  for (let family = 0; family < FAMILY_COUNT; family++) {
    if (allowed.has(family)) continue;
    families.push(rule(sockets, EAFNOSUPPORT, [{ index: 0, value: family, op: 'SCMP_CMP_EQ' }]));
  }
  families.push(
    rule(sockets, EAFNOSUPPORT, [{ index: 0, value: FAMILY_COUNT, op: 'SCMP_CMP_GE' }]),
  );
  return JSON.stringify({
    defaultAction: 'SCMP_ACT_ALLOW',
    archMap: [
      { architecture: 'SCMP_ARCH_X86_64', subArchitectures: [] },
      { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: [] },
    ],
    syscalls: [
      rule([...refused].sort(), EPERM),
      // Its flags lie in memory, where a filter cannot look; libraries fall back to clone.
      rule(['clone3'], ENOSYS),
      rule(['clone', 'unshare'], EPERM, [masked(0, CLONE_NEWUSER, CLONE_NEWUSER)]),
      ...families,
      // The same uid may limit the supervisor, whether or not it may trace it.
      rule(['prlimit64'], EPERM, [masked(0, LOW_HALF, SUPERVISOR_PID)]),
      rule(['ioctl'], EPERM, [masked(1, LOW_HALF, TIOCSTI)]),
      rule(['ioctl'], EPERM, [masked(1, LOW_HALF, TIOCLINUX)]),
    ],
  });
}
