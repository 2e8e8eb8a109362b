import { join } from 'node:path';
import { createLocalSandbox } from '../../../../src/core/sandbox/local/local.ts';
import { createNoneSandbox } from '../../../../src/core/sandbox/none.ts';
import type { SandboxSession } from '../../../../src/core/sandbox/sandbox.ts';
import { checkCall } from '../../../../src/core/tools/registry.ts';
import type { Tool, ToolResult } from '../../../../src/core/tools/tool.ts';
import { createFixture } from '../../sandbox/fixture.ts';

export interface TestSession {
  readonly session: SandboxSession;
  /** Runs a command in the session and gives what it printed; rejects when it fails. */
  sh(command: string): Promise<string>;
  put(path: string, content: string | Uint8Array): Promise<void>;
  /** One character per byte. */
  bytes(path: string): Promise<string>;
  close(): Promise<void>;
}

/** A real session over a small snapshot: `a.txt`, `src/run.sh`, `.gitignore`, `node_modules/dep`. */
export async function openTestSession(kind: 'local' | 'none'): Promise<TestSession> {
  const fixture = createFixture();
  const stateDir = join(fixture.root, 'state');
  const provider =
    kind === 'local' ? createLocalSandbox({ stateDir }) : createNoneSandbox({ stateDir });
  const state = await provider.availability();
  if (!state.available) throw new Error(`${kind} is needed here: ${state.reason}. ${state.remedy}`);
  const session = await provider.open(fixture.spec);
  return {
    session,
    sh: async (command) => {
      const { end, output } = await session.run(
        { argv: ['bash', '-c', command] },
        { timeoutMs: 30_000, maxOutputBytes: 1_000_000 },
      );
      const text = Buffer.from(output.head).toString();
      if (end.kind !== 'exited' || end.code !== 0) throw new Error(`${command}: ${text}`);
      return text;
    },
    put: (path, content) => session.files.write(path, Buffer.from(content)),
    bytes: async (path) => Buffer.from(await session.files.read(path, 1e9)).toString('latin1'),
    close: async () => {
      await session.close();
      fixture.remove();
    },
  };
}

/** Calls a tool as the loop does; a call that is not well-formed is an error of the test. */
export async function callTool(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  onOutput?: (text: string) => void,
): Promise<ToolResult> {
  const checked = checkCall([tool], { id: '1', name: tool.name, arguments: args });
  if (checked.kind !== 'ok') throw new Error(checked.reason);
  return checked.run({ signal: new AbortController().signal, ...(onOutput ? { onOutput } : {}) });
}
