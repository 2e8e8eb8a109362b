/**
 * Philox 2×32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): a
 * counter-based generator. A draw depends on seed and place alone, so neither on what else is being
 * sampled at the time nor on how often a computation was done again.
 *
 * @returns two whole numbers from 0 to 2³² − 1
 */
export function philox(key: number, low: number, high: number): readonly [number, number] {
  let k = key >>> 0;
  let a = low >>> 0;
  let b = high >>> 0;
  for (let round = 0; round < 10; round += 1) {
    const upper = multiplyHigh(a, 0xd256d193);
    const lower = Math.imul(a, 0xd256d193) >>> 0;
    a = (upper ^ k ^ b) >>> 0;
    b = lower;
    k = (k + 0x9e3779b9) >>> 0;
  }
  return [a, b];
}

/** From 0 (included) to 1 (excluded), 53 bits; `seed` is a safe whole number, `place` a place in the sequence. */
export function uniform(seed: number, place: number): number {
  const [a, b] = philox(seed % 0x1_0000_0000, place, Math.floor(seed / 0x1_0000_0000));
  return ((a >>> 5) * 0x400_0000 + (b >>> 6)) / 2 ** 53;
}

/** Upper half of the 64-bit product of two 32-bit numbers. */
function multiplyHigh(x: number, y: number): number {
  const [xl, xh, yl, yh] = [x & 0xffff, x >>> 16, y & 0xffff, y >>> 16];
  const low = xl * yl;
  const first = xh * yl + Math.floor(low / 0x1_0000);
  const second = xl * yh + (first % 0x1_0000);
  return xh * yh + Math.floor(first / 0x1_0000) + Math.floor(second / 0x1_0000);
}
