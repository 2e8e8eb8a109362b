import type { SandboxProvider, SandboxSession, SandboxSpec } from './sandbox.ts';

export interface WarmPool {
  /** Hands out a session that was prepared for this very spec, where there is one. */
  readonly provider: SandboxProvider;
  /** Ends what was prepared and not handed out. Sessions that were handed out are not its business. */
  close(): Promise<void>;
}

interface Prepared {
  readonly key: string;
  readonly session: Promise<SandboxSession | undefined>;
  readonly idle: NodeJS.Timeout;
}

export interface WarmPoolOptions {
  /** Prepared sessions at once, at most. */
  readonly size?: number;
  /** What nobody has asked for in this time is ended. */
  readonly idleMs?: number;
}

const PROBE = { timeoutMs: 5_000, maxOutputBytes: 100 };

/**
 * Makes the next session while the last one is used. A session is handed out once and never comes
 * back: nobody sees what another one left, so the isolation is that of the provider. It was made
 * from the same spec, and nothing has run in it but one `true`, which shows that it still works.
 */
export function createWarmPool(inner: SandboxProvider, options: WarmPoolOptions = {}): WarmPool {
  const { size = 1, idleMs = 60_000 } = options;
  const prepared: Prepared[] = [];
  const endings = new Set<Promise<void>>();
  let closed = false;

  const end = ({ session, idle }: Prepared): void => {
    clearTimeout(idle);
    const ending = session.then((made) => made?.close()).catch(() => undefined);
    endings.add(ending);
    void ending.finally(() => endings.delete(ending));
  };
  const drop = (entry: Prepared): void => {
    const at = prepared.indexOf(entry);
    if (at >= 0) prepared.splice(at, 1);
    end(entry);
  };
  const prepare = (key: string, spec: SandboxSpec): void => {
    if (closed || prepared.filter((entry) => entry.key === key).length >= size) return;
    while (prepared.length >= size) {
      const [oldest] = prepared;
      if (oldest) drop(oldest);
    }
    const entry: Prepared = {
      key,
      // Whoever asks for one of its own learns the reason.
      session: inner.open(spec).catch(() => undefined),
      idle: setTimeout(() => drop(entry), idleMs),
    };
    prepared.push(entry);
  };
  const take = async (key: string): Promise<SandboxSession | undefined> => {
    const entry = prepared.find((candidate) => candidate.key === key);
    if (entry === undefined) return undefined;
    prepared.splice(prepared.indexOf(entry), 1);
    clearTimeout(entry.idle);
    const session = await entry.session;
    if (session === undefined || (await works(session))) return session;
    end(entry);
    return undefined;
  };

  return {
    provider: {
      kind: inner.kind,
      availability: () => inner.availability(),
      open: async (spec, signal) => {
        signal?.throwIfAborted();
        const key = JSON.stringify(spec);
        const session = (await take(key)) ?? (await inner.open(spec, signal));
        if (signal?.aborted) {
          await session.close();
          signal.throwIfAborted();
        }
        prepare(key, spec);
        return session;
      },
    },
    close: async () => {
      closed = true;
      for (const entry of prepared.splice(0)) end(entry);
      await Promise.all(endings);
    },
  };
}

/** It may have ended while it waited. */
async function works(session: SandboxSession): Promise<boolean> {
  try {
    const { end } = await session.run({ argv: ['true'] }, PROBE);
    return end.kind === 'exited' && end.code === 0;
  } catch {
    return false;
  }
}
