import type { AttemptsPort } from '../ports.ts';

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
