/** Milliseconds, from any starting point; never goes back. */
export type Clock = () => number;

export const systemClock: Clock = () => performance.now();
