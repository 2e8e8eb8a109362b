import { Buffer } from 'node:buffer';
import { posix } from 'node:path';
import type { Framework, ToolchainResult } from '../frameworks/framework.ts';
import type { SandboxProvider, SandboxSpec, Toolchain } from '../sandbox/sandbox.ts';

const PROBE_MS = 60_000;

/** Nothing of the host's programs exists in a container. */
const NO_MOUNTS: Toolchain = { path: [], mounts: [], env: {} };

/** What must be there, by framework; others use the program that the host has. */
const NEEDED: Partial<Record<string, readonly Program[]>> = {
  'node:test': [{ name: 'node' }],
  pytest: [
    { name: 'python3', module: 'pytest' },
    { name: 'python', module: 'pytest' },
  ],
};

interface Program {
  readonly name: string;
  /** Of Python; must be importable. */
  readonly module?: string;
}

/** Prints path and version of the first program of `NAME:MODULE …` that is there. */
const FIND = `for p_wanted; do
  p_program=$(type -P "\${p_wanted%%:*}") || continue
  p_module=\${p_wanted#*:}
  [[ -z $p_module ]] || "$p_program" -c "import $p_module" >/dev/null 2>&1 || continue
  printf '%s\\n' "$p_program"
  "$p_program" --version 2>/dev/null | head -n 1
  exit 0
done
exit 1`;

/**
 * The tool chain where commands run in a container: programs of the image take the place of the
 * host's. Opens a session to look. Rejects with `SandboxFailure`.
 *
 * @param own the host's, if there is one
 */
export async function imageToolchain(
  provider: SandboxProvider,
  spec: Omit<SandboxSpec, 'toolchain'>,
  framework: Framework,
  own: ToolchainResult,
  signal: AbortSignal,
): Promise<ToolchainResult> {
  const wanted =
    NEEDED[framework.id] ?? (own.kind === 'found' ? [{ name: posix.basename(own.program) }] : []);
  const session = await provider.open({ ...spec, toolchain: NO_MOUNTS }, signal);
  try {
    const words = wanted.map(({ name, module = '' }) => `${name}:${module}`);
    const result = await session.run(
      { argv: ['bash', '-c', FIND, 'find', ...words], capture: 'stdout' },
      { timeoutMs: PROBE_MS, maxOutputBytes: 4096, signal },
    );
    const [program = '', version = ''] = Buffer.from(result.output.head).toString().split('\n');
    if (result.end.kind === 'exited' && result.end.code === 0 && program !== '') {
      const detail = `${version || program} of the image`;
      return { kind: 'found', toolchain: NO_MOUNTS, program, detail };
    }
  } finally {
    await session.close();
  }
  const [first] = wanted;
  const what = first?.module ? `${first.name} with ${first.module}` : (first?.name ?? 'program');
  return {
    kind: 'missing',
    reason: `The container image has no ${what}, which ${framework.label} needs.`,
    remedy:
      'Name an image in which the tests of this project run: --docker-image NAME. Or use --sandbox local.',
  };
}
