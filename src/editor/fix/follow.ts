import type * as vscode from 'vscode';
import type { AttemptEvent } from '../../core/agent/events.ts';
import type { FixEvent, FixListener } from '../../core/fix/events.ts';
import { inEditorWords } from '../support/words.ts';
import type { WorkDeps } from './deps.ts';

export interface FollowOptions {
  readonly folder: vscode.WorkspaceFolder;
  readonly policy: string;
  readonly recordOf: (attemptId: string) => string;
  /** One line for the notification and the status bar. */
  readonly say: (text: string) => void;
}

/** Tells what happens in a fix: to the log, to whoever shows attempts, and in one line. */
export function followFix(
  { vs, log, attempts }: Pick<WorkDeps, 'vs' | 'log' | 'attempts'>,
  { folder, policy, recordOf, say }: FollowOptions,
): FixListener {
  const running = new Map<string, { label: string; activity: string }>();

  const tell = (): void => {
    const [latest] = [...running.values()].slice(-1);
    if (latest === undefined) return;
    const { label, activity } = latest;
    const text = activity === '' ? label : `${label}: ${activity}`;
    say(running.size > 1 ? vs.l10n.t('{0} attempts at once; {1}', running.size, text) : text);
  };
  const update = (id: string, activity: string): void => {
    const entry = running.get(id);
    if (entry === undefined || entry.activity === activity) return;
    // To the end: the line tells of the attempt that did something last.
    running.delete(id);
    running.set(id, { ...entry, activity });
    tell();
  };

  return (event: FixEvent): void => {
    switch (event.kind) {
      case 'progress': {
        const text = inEditorWords(event.text);
        log.info(text);
        say(text);
        break;
      }
      case 'warning':
        log.warn(inEditorWords([event.text, event.remedy].filter(Boolean).join('\n')));
        break;
      case 'failing':
        log.info(`${event.tests.length} failing: ${event.tests.map(({ id }) => id).join(', ')}`);
        break;
      case 'target':
        log.info(`[${event.index + 1}/${event.of}] ${event.target}`);
        break;
      case 'attempt-start': {
        const { attemptId, number, target } = event;
        running.set(attemptId, { label: vs.l10n.t('attempt {0}', number), activity: '' });
        attempts.started({
          attemptId,
          number,
          targets: [target],
          folder,
          policy,
          trajectoryPath: recordOf(attemptId),
          startedAt: new Date(),
        });
        tell();
        break;
      }
      case 'attempt': {
        attempts.turn(event.attemptId, event.event);
        const activity = activityOf(vs, event.event);
        if (activity !== undefined) update(event.attemptId, activity);
        break;
      }
      case 'grading':
        attempts.grading(event.attemptId);
        update(event.attemptId, vs.l10n.t('checking its patch'));
        break;
      case 'attempt-dropped':
        running.delete(event.attemptId);
        attempts.ended({
          attemptId: event.attemptId,
          outcome: 'dropped',
          reason: vs.l10n.t('another attempt was faster'),
          turns: 0,
          durationMs: 0,
        });
        break;
      case 'attempt-end': {
        const { attemptId, number, target, row, turns, durationMs } = event;
        running.delete(attemptId);
        log.info(`attempt ${number} at ${target}: ${row.outcome} (${turns} turns): ${row.reason}`);
        attempts.ended({ attemptId, outcome: row.outcome, reason: row.reason, turns, durationMs });
        tell();
        break;
      }
      case 'verifying':
        say(vs.l10n.t('checking all changes together'));
        break;
    }
  };
}

/** undefined: too small to be worth a line. */
function activityOf(vs: typeof vscode, event: AttemptEvent): string | undefined {
  switch (event.kind) {
    case 'turn':
      return vs.l10n.t('turn {0}', event.index + 1);
    case 'call':
      return vs.l10n.t('turn {0}, {1}', event.index + 1, event.call.name);
    default:
      return undefined;
  }
}
