import { createLocalSandbox } from './local/local.ts';
import { createNoneSandbox } from './none.ts';
import type { SandboxProvider } from './sandbox.ts';

export type SandboxChoice = 'auto' | 'local' | 'docker' | 'none';

export type ChosenSandbox =
  | { readonly kind: 'available'; readonly provider: SandboxProvider; readonly detail: string }
  | { readonly kind: 'unavailable'; readonly reason: string; readonly remedy: string };

export interface ProviderOptions {
  readonly stateDir?: string;
  /** Image of the Docker sandbox: tag, digest or id. */
  readonly dockerImage?: string | undefined;
  /** The host's variables; they name the container engine. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Loaded when it is asked for: it brings a client for container engines. */
async function dockerSandbox(options: ProviderOptions): Promise<SandboxProvider> {
  const { createDockerSandbox } = await import('./docker/docker.ts');
  return createDockerSandbox({ image: options.dockerImage, variables: options.environment });
}

/** Every provider, the ones that need no set-up first. */
export async function sandboxProviders(options: ProviderOptions = {}): Promise<SandboxProvider[]> {
  return [createLocalSandbox(options), await dockerSandbox(options), createNoneSandbox(options)];
}

/**
 * The provider for a choice of the user. `auto` never ends in `none`: running without isolation
 * needs consent, so it must be asked for by name.
 */
export async function chooseSandbox(
  choice: SandboxChoice,
  options: ProviderOptions = {},
): Promise<ChosenSandbox> {
  const provider = await providerFor(choice, options);
  const state = await provider.availability();
  if (state.available) return { kind: 'available', provider, detail: state.detail };
  const remedy =
    choice === 'auto'
      ? `${state.remedy} Or \`--sandbox docker\`, or \`--sandbox none\`, if you accept that commands run without isolation.`
      : state.remedy;
  return { kind: 'unavailable', reason: `No sandbox: ${state.reason}.`, remedy };
}

async function providerFor(
  choice: SandboxChoice,
  options: ProviderOptions,
): Promise<SandboxProvider> {
  switch (choice) {
    case 'docker':
      return dockerSandbox(options);
    case 'none':
      return createNoneSandbox(options);
    case 'auto':
    case 'local':
      return createLocalSandbox(options);
  }
}
