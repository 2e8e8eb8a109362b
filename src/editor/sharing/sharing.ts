import type * as vscode from 'vscode';
import type { Desk } from '../../core/outbox/desk.ts';
import { affectsSettings, readSettings } from '../contract/settings.ts';
import { connectedServer, type ServerTokens } from './server.ts';

/** Attempts and files of them on their way to the training server. */
export interface SharingCounts {
  readonly waiting: number;
  readonly sent: number;
  readonly refused: number;
}

/** Sends what is allowed, in the background and without a word; what becomes of it can be looked up. */
export interface Sharing extends vscode.Disposable {
  readonly onDidChange: vscode.Event<void>;
  /** In words; undefined: there is nothing to say. */
  summary(): string | undefined;
  /** Something may have to be sent. */
  soon(): void;
  desk(): Promise<Desk>;
  /** Looks at the outbox again. */
  refresh(): Promise<SharingCounts>;
  /** What is being sent is cut off: it goes on another time. */
  stop(): Promise<void>;
}

export interface SharingOptions {
  readonly vs: typeof vscode;
  readonly log: vscode.LogOutputChannel;
  readonly tokens: ServerTokens;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Attempts of this window go on: they come first. */
  readonly busy: () => boolean;
  readonly timing?: SharingTiming;
}

export interface SharingTiming {
  /** Records are complete a moment after their attempt has ended. */
  readonly soonMs: number;
  /** After a failure; doubled each time, up to the longest. */
  readonly retryMs: number;
  readonly longestMs: number;
}

const TIMING: SharingTiming = { soonMs: 5_000, retryMs: 30_000, longestMs: 30 * 60_000 };

/** Nothing is read or loaded before the first `soon`, and none comes by itself without a server in the settings. */
export function createSharing(options: SharingOptions): Sharing {
  const { vs, log, tokens, environment, busy, timing = TIMING } = options;
  const changed = new vs.EventEmitter<void>();
  const stopped = new AbortController();
  let counts: SharingCounts | undefined;
  let problem: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let failures = 0;
  let again = false;
  /** It would be refused again: it waits for another token or address. */
  let refusedFor: string | undefined;

  const desk = async (): Promise<Desk> => {
    const { openDesk } = await import('../../core/outbox/desk.ts');
    return openDesk({ env: environment, signal: stopped.signal });
  };
  const refresh = async (): Promise<SharingCounts> => {
    const entries = await (await desk()).outbox.list();
    const count = (kind: string): number =>
      entries.filter(({ state, files }) => state.kind === kind || files?.kind === kind).length;
    counts = { waiting: count('waiting'), sent: count('sent'), refused: count('refused') };
    changed.fire();
    return counts;
  };

  const send = async (): Promise<void> => {
    const server = await connectedServer(vs, tokens);
    // In Restricted Mode nothing is read of the folder, and nothing leaves.
    if (!server || !vs.workspace.isTrusted) return;
    const identity = `${server.url} ${server.token} ${server.fingerprint ?? ''}`;
    if (refusedFor === identity) return;
    refusedFor = undefined;
    const at = await desk();
    const folders = vs.workspace.workspaceFolders ?? [];
    const open = folders.filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath);
    await at.offer(open);
    const { AGENT_VERSION } = await import('../../core/fix/version.ts');
    const client = { name: 'prime-agent-vscode', version: AGENT_VERSION };
    try {
      const { sent, refused, waiting, files } = await at.send(server, { client });
      if (sent + refused + files.sent + files.refused > 0) {
        log.info(
          `shared: ${sent} attempts and ${files.sent} archives of files sent, ${refused + files.refused} refused`,
        );
      }
      problem = undefined;
      failures = waiting + files.waiting > 0 ? failures + 1 : 0;
    } catch (error) {
      if (stopped.signal.aborted) return;
      const { ProtocolError, retryAdvice } = await import('../../core/protocol/errors.ts');
      if (error instanceof ProtocolError && retryAdvice(error.code) === 'never') {
        refusedFor = identity;
      }
      failures += 1;
      throw error;
    }
  };

  const schedule = (delay: number): void => {
    if (stopped.signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(run, delay);
  };
  const run = (): void => {
    if (stopped.signal.aborted) return;
    if (running) {
      again = true;
      return;
    }
    if (busy()) {
      schedule(timing.soonMs);
      return;
    }
    again = false;
    running = send()
      .catch((error: unknown) => {
        problem = error instanceof Error ? error.message : String(error);
        log.warn(`nothing is sent to the training server now: ${problem}`);
      })
      .then(refresh)
      .then(
        () => undefined,
        (error: unknown) => log.warn(`the outbox cannot be read: ${String(error)}`),
      )
      .finally(() => {
        running = undefined;
        if (again) schedule(timing.soonMs);
        else if (failures > 0 && refusedFor === undefined) schedule(backOff(failures, timing));
      });
  };
  const soon = (): void => schedule(timing.soonMs);
  if (readSettings(vs).server.url !== '') soon();

  const watched = vs.workspace.onDidChangeConfiguration((event) => {
    if (!affectsSettings(event, 'server.url', 'server.fingerprint')) return;
    failures = 0;
    soon();
  });

  return {
    onDidChange: changed.event,
    summary() {
      if (!counts) return undefined;
      const { waiting, sent, refused } = counts;
      if (waiting + sent + refused === 0) return undefined;
      const words = vs.l10n.t('{0} waiting, {1} sent, {2} refused', waiting, sent, refused);
      return problem === undefined ? words : `${words} (${problem})`;
    },
    soon,
    desk,
    refresh,
    async stop() {
      stopped.abort(new Error('the editor ends'));
      clearTimeout(timer);
      await running;
    },
    dispose() {
      stopped.abort(new Error('the editor ends'));
      clearTimeout(timer);
      vs.Disposable.from(watched, changed).dispose();
    },
  };
}

/** Doubled each time; a little different in each window, so that they do not come together. */
export function backOff(failures: number, { retryMs, longestMs }: SharingTiming): number {
  const wait = Math.min(longestMs, retryMs * 2 ** (failures - 1));
  return Math.round(wait * (0.8 + 0.4 * Math.random()));
}
