import type { AttemptsPort } from '../ports.ts';

/** Hears when one has ended, after those that show it. */
export function whenEnded(port: AttemptsPort, heard: () => void): AttemptsPort {
  return {
    started: (attempt) => port.started(attempt),
    turn: (attemptId, event) => port.turn(attemptId, event),
    grading: (attemptId) => port.grading(attemptId),
    ended(attempt) {
      port.ended(attempt);
      heard();
    },
  };
}

/** Two that follow the same attempts; the first one hears first. */
export function bothAttempts(first: AttemptsPort, second: AttemptsPort): AttemptsPort {
  return {
    started(attempt) {
      first.started(attempt);
      second.started(attempt);
    },
    turn(attemptId, event) {
      first.turn(attemptId, event);
      second.turn(attemptId, event);
    },
    grading(attemptId) {
      first.grading(attemptId);
      second.grading(attemptId);
    },
    ended(attempt) {
      first.ended(attempt);
      second.ended(attempt);
    },
  };
}
