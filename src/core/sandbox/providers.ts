import { createLocalSandbox } from './local/local.ts';
import { createNoneSandbox } from './none.ts';
import type { SandboxProvider } from './sandbox.ts';

export type SandboxChoice = 'auto' | 'local' | 'docker' | 'none';

export type ChosenSandbox =
  | { readonly kind: 'available'; readonly provider: SandboxProvider; readonly detail: string }
  | { readonly kind: 'unavailable'; readonly reason: string; readonly remedy: string };

/** Every provider that is built, the most isolated first. */
export function sandboxProviders(options: { readonly stateDir?: string } = {}): SandboxProvider[] {
  return [createLocalSandbox(options), createNoneSandbox(options)];
}

/**
 * The provider for a choice of the user. `auto` never ends in `none`: running without isolation
 * needs consent, so it must be asked for by name.
 */
export async function chooseSandbox(
  choice: SandboxChoice,
  options: { readonly stateDir?: string } = {},
): Promise<ChosenSandbox> {
  if (choice === 'docker') {
    return {
      kind: 'unavailable',
      reason: 'The Docker sandbox is not built yet.',
      remedy:
        'Use `--sandbox local` (Linux with bubblewrap), or `--sandbox none` without isolation.',
    };
  }
  const provider = choice === 'none' ? createNoneSandbox(options) : createLocalSandbox(options);
  const state = await provider.availability();
  if (state.available) return { kind: 'available', provider, detail: state.detail };
  const remedy =
    choice === 'auto'
      ? `${state.remedy} Or \`--sandbox none\`, if you accept that commands run without isolation.`
      : state.remedy;
  return { kind: 'unavailable', reason: `No sandbox: ${state.reason}.`, remedy };
}
