/**
 * How far the scores of edit-search are trusted against the network, of one attempt.
 *
 * Both give each edit a probability to be the one that helps. When an edit is tried that does not help, the one
 * who was surer of it loses more (Bayes: the probability that a try fails is 1 minus what it was given). So a
 * network that knows the code is followed, and one that is sure of the wrong thing is soon left to the scores.
 */
export interface Trust {
  /** 0 to 1. */
  inScores(): number;
  /** @param byScores what the scores gave the edit that was tried, 0 to 1 @param byNetwork what the network gave it */
  failed(byScores: number, byNetwork: number): void;
}

/** What is left of one who was quite sure, at least: probabilities have rounding errors. */
const LEAST = 1e-6;

/** @param atFirst trust in the scores when nothing was tried yet, 0 to 1; 0 and 1 stay as they are */
export function createTrust(atFirst: number): Trust {
  let scores = atFirst;
  return {
    inScores: () => scores,
    failed(byScores, byNetwork) {
      const left = scores * Math.max(LEAST, 1 - byScores);
      const other = (1 - scores) * Math.max(LEAST, 1 - byNetwork);
      scores = left / (left + other);
    },
  };
}
