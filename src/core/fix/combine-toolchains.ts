import type { Toolchain } from '../sandbox/sandbox.ts';

/** All of them in one sandbox; where two set the same variable the first one counts. */
export function combineToolchains(toolchains: readonly Toolchain[]): Toolchain {
  return {
    path: [...new Set(toolchains.flatMap(({ path }) => path))],
    mounts: [...new Set(toolchains.flatMap(({ mounts }) => mounts))],
    env: Object.assign({}, ...[...toolchains].reverse().map(({ env }) => env)),
  };
}
