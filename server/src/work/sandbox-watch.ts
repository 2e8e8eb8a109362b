import type { Logger } from 'pino';
import { chooseSandbox } from '../../../src/core/sandbox/providers.ts';

export type SandboxState =
  | { readonly state: 'unknown' }
  | { readonly state: 'working'; readonly detail: string }
  | { readonly state: 'missing'; readonly reason: string; readonly remedy: string };

export interface SandboxWatch {
  state(): SandboxState;
  close(): Promise<void>;
}

export interface SandboxWatchOptions {
  readonly kind: 'auto' | 'local' | 'docker';
  readonly image: string | undefined;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly againMs: number;
  readonly log: Logger;
  readonly onChange: () => void;
}

const SOON_MS = 200;

/**
 * Really tries the sandbox, and again while it does not work. `none` cannot be configured: commands of
 * contributors never run outside of a sandbox.
 */
export function watchSandbox(options: SandboxWatchOptions): SandboxWatch {
  const { kind, image, stateDir, env, againMs, log, onChange } = options;
  let state: SandboxState = { state: 'unknown' };
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const look = async (): Promise<void> => {
    const found = await tryOnce();
    if (closed) return;
    const before = state.state;
    state = found;
    if (found.state === 'missing') {
      timer = setTimeout(begin, againMs);
      if (before !== 'missing') {
        const { reason, remedy } = found;
        log.warn({ reason, remedy }, 'no sandbox: nothing that contributors sent is run');
      }
    } else if (found.state === 'working') log.info({ detail: found.detail }, 'the sandbox works');
    onChange();
  };
  const tryOnce = async (): Promise<SandboxState> => {
    try {
      const chosen = await chooseSandbox(kind, { stateDir, dockerImage: image, environment: env });
      if (chosen.kind === 'available') return { state: 'working', detail: chosen.detail };
      return { state: 'missing', reason: chosen.reason, remedy: chosen.remedy };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { state: 'missing', reason, remedy: '' };
    }
  };
  let looking: Promise<void> = Promise.resolve();
  const begin = (): void => {
    looking = look();
  };
  // Not in the way of the start: connections come first.
  timer = setTimeout(begin, SOON_MS);
  return {
    state: () => state,
    async close() {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
