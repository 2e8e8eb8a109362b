import { promptSamples } from '../agent/prompt.ts';
import { type Scaffold, scaffoldHash } from '../agent/scaffold.ts';
import type { SandboxSession } from '../sandbox/sandbox.ts';
import { observationSamples as bashSamples } from '../tools/bash/render.ts';
import { observationSamples as editorSamples } from '../tools/editor/samples.ts';
import { toToolSchema } from '../tools/registry.ts';
import { observationSamples as runTestsSamples } from '../tools/run-tests/samples.ts';
import { observationSamples as searchSamples } from '../tools/search/render.ts';
import { attemptTools } from './tools.ts';

/** Everything that a policy reads and writes by, in the form that is hashed. */
export function currentScaffold(): Scaffold {
  return {
    prompt: promptSamples(),
    tools: attemptTools(NO_SESSION, NO_SETUP, []).map(toToolSchema),
    observations: {
      bash: bashSamples(),
      str_replace_editor: editorSamples(),
      search: searchSamples(),
      run_tests: runTestsSamples(),
    },
  };
}

let known: string | undefined;

/** sha256, hex. */
export function currentScaffoldHash(): string {
  known ??= scaffoldHash(currentScaffold());
  return known;
}

/** Schemas do not depend on a session; a tool that is only described never uses it. */
const NO_SESSION = {} as SandboxSession;
const NO_SETUP = { program: '', projectPath: '', timeoutMs: 1 } as Parameters<
  typeof attemptTools
>[1];
