import type * as vscode from 'vscode';
import type { AttemptEnded, AttemptStarted, AttemptsPort } from '../ports.ts';
import { testName } from '../support/attempt-words.ts';
import { renderEvent } from './render-event.ts';
import { createTranscriptBuffer, type TranscriptBuffer } from './transcript-buffer.ts';

/** Attempts as terminals: one each, made when somebody wants to see it. */
export interface LiveView extends AttemptsPort, vscode.Disposable {
  /** Opens the terminal of an attempt; without an id the user chooses. The focus stays where it is. */
  watch(attemptId?: string): Promise<void>;
}

/** Ended attempts that can still be looked at; their records stay anyway. */
const KEPT = 20;
const MAX_CHARACTERS = 1_000_000;

interface Watched {
  readonly started: AttemptStarted;
  readonly buffer: TranscriptBuffer;
  readonly written: vscode.EventEmitter<string>;
  ended?: AttemptEnded;
  terminal?: vscode.Terminal;
}

export function createLiveView(vs: typeof vscode): LiveView {
  const attempts = new Map<string, Watched>();

  const write = (attemptId: string, text: string): void => {
    const attempt = attempts.get(attemptId);
    if (attempt === undefined || text === '') return;
    attempt.buffer.append(text);
    attempt.written.fire(text);
  };

  const forget = (attemptId: string, attempt: Watched): void => {
    attempt.terminal?.dispose();
    attempt.written.dispose();
    attempts.delete(attemptId);
  };

  const open = (attempt: Watched): void => {
    attempt.terminal ??= vs.window.createTerminal({
      name: titleOf(vs, attempt.started),
      iconPath: new vs.ThemeIcon('wand'),
      isTransient: true,
      pty: {
        onDidWrite: attempt.written.event,
        open: () => attempt.written.fire(attempt.buffer.text()),
        close: () => {
          attempt.terminal = undefined;
        },
      },
    });
    attempt.terminal.show(true);
  };

  return {
    started(attempt) {
      const buffer = createTranscriptBuffer(MAX_CHARACTERS);
      attempts.set(attempt.attemptId, {
        started: attempt,
        buffer,
        written: new vs.EventEmitter<string>(),
      });
      buffer.append(`${attempt.targets.join(', ')}\r\n${attempt.policy}\r\n`);
      const ended = [...attempts].filter(([, watched]) => watched.ended && !watched.terminal);
      for (const [id, watched] of ended.slice(0, -KEPT)) forget(id, watched);
    },
    turn: (attemptId, event) => write(attemptId, renderEvent(event)),
    grading: (attemptId) => write(attemptId, `\r\n${vs.l10n.t('Checking the patch…')}\r\n`),
    ended(end) {
      const attempt = attempts.get(end.attemptId);
      if (attempt === undefined) return;
      attempt.ended = end;
      write(end.attemptId, `\r\n${outcomeText(vs, end)}\r\n`);
    },
    async watch(attemptId) {
      const all = [...attempts.values()].reverse();
      const named = attemptId === undefined ? undefined : attempts.get(attemptId);
      if (named) return open(named);
      const running = all.filter(({ ended }) => ended === undefined);
      const [first] = all;
      if (first === undefined) {
        void vs.window.showInformationMessage(
          vs.l10n.t('There is no attempt to watch. “Fix failing test” makes some.'),
        );
        return;
      }
      const [only] = running;
      if (only !== undefined && running.length === 1) return open(only);
      const picked = await vs.window.showQuickPick(
        all.map((attempt) => ({
          label: titleOf(vs, attempt.started),
          description: attempt.ended ? outcomeText(vs, attempt.ended) : vs.l10n.t('going on'),
          attempt,
        })),
        { title: vs.l10n.t('Attempt to watch') },
      );
      if (picked) open(picked.attempt);
    },
    dispose() {
      for (const [id, attempt] of attempts) forget(id, attempt);
    },
  };
}

function titleOf({ l10n }: typeof vscode, { number, targets }: AttemptStarted): string {
  const name = targets[0] === undefined ? '' : testName(targets[0]);
  return l10n.t('Attempt {0}: {1}', number, name);
}

function outcomeText({ l10n }: typeof vscode, { outcome, reason }: AttemptEnded): string {
  switch (outcome) {
    case 'solved':
      return l10n.t('Solved.');
    case 'solved_with_test_changes':
      return l10n.t('Solved only with changes to tests or configuration.');
    case 'dropped':
      return l10n.t('Stopped: {0}.', reason);
    default:
      return l10n.t('Not solved: {0}.', reason);
  }
}
