import { Buffer } from 'node:buffer';
import { posix } from 'node:path';
import type { Framework, FrameworkId, ToolchainResult } from '../frameworks/framework.ts';
import {
  type SandboxProvider,
  type SandboxSpec,
  type Toolchain,
  WORKSPACE,
} from '../sandbox/sandbox.ts';

const PROBE_MS = 60_000;

/** Nothing of the host's programs exists in a container. */
const NO_MOUNTS: Toolchain = { path: [], mounts: [], env: {} };

const python = (module?: string): readonly Program[] => [
  { name: 'python3', module },
  { name: 'python', module },
];
const node = (packageName?: string): readonly Program[] => [{ name: 'node', packageName }];

/** What must be there, by framework; the first that is there is used. */
const NEEDED: Readonly<Record<FrameworkId, readonly Program[]>> = {
  'node:test': node(),
  vitest: node('vitest'),
  jest: node('jest'),
  mocha: node('mocha'),
  tap: node('tap'),
  tape: node('tape'),
  ava: node('ava'),
  pytest: python('pytest'),
  unittest: python(),
  'go test': [{ name: 'go' }],
  'cargo test': [{ name: 'cargo' }],
  junit: [{ name: 'mvn', file: 'pom.xml' }, { name: 'gradle' }],
  // Its own program is bash; what it calls is on the image's PATH or not.
  command: [{ name: 'bash' }],
};

interface Program {
  readonly name: string;
  /** Of Python; must be importable. */
  readonly module?: string | undefined;
  /** In node_modules of the project or of a folder around it. */
  readonly packageName?: string | undefined;
  /** In the project's folder. */
  readonly file?: string;
}

/** Prints path and version of the first program of `NAME:MODULE:PACKAGE:FILE …` that is there. */
const FIND = `for p_wanted; do
  IFS=: read -r p_name p_module p_package p_file <<< "$p_wanted"
  p_program=$(type -P "$p_name") || continue
  [[ -z $p_module ]] || "$p_program" -c "import $p_module" >/dev/null 2>&1 || continue
  [[ -z $p_file || -e $p_file ]] || continue
  if [[ -n $p_package ]]; then
    p_folder=$PWD
    until [[ -e $p_folder/node_modules/$p_package || $p_folder = ${WORKSPACE} || $p_folder = / ]]; do
      p_folder=$(dirname "$p_folder")
    done
    [[ -e $p_folder/node_modules/$p_package ]] || continue
  fi
  printf '%s\\n' "$p_program"
  "$p_program" --version 2>/dev/null | head -n 1
  exit 0
done
exit 1`;

/**
 * The tool chain where commands run in a container: programs of the image take the place of the
 * host's. Opens a session to look. Rejects with `SandboxFailure`.
 */
export async function imageToolchain(
  provider: SandboxProvider,
  spec: Omit<SandboxSpec, 'toolchain'>,
  framework: Framework,
  projectPath: string,
  signal: AbortSignal,
): Promise<ToolchainResult> {
  const wanted: readonly Program[] =
    framework.programs?.map((name) => ({ name })) ?? NEEDED[framework.id];
  const session = await provider.open({ ...spec, toolchain: NO_MOUNTS }, signal);
  try {
    const words = wanted.map(({ name, module = '', packageName = '', file = '' }) =>
      [name, module, packageName, file].join(':'),
    );
    const result = await session.run(
      {
        argv: ['bash', '-c', FIND, 'find', ...words],
        cwd: posix.join(WORKSPACE, projectPath),
        capture: 'stdout',
      },
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
  const extra = first?.module ?? first?.packageName;
  const what = extra ? `${first?.name} with ${extra}` : wanted.map(({ name }) => name).join(' or ');
  return {
    kind: 'missing',
    reason: `The container image has no ${what}, which ${framework.label} needs.`,
    remedy:
      'Name an image in which the tests of this project run: --docker-image NAME. Or use --sandbox local.',
  };
}
