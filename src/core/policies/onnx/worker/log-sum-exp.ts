/** Natural logarithm of the sum of what the values are the logarithms of. */
export function logSumExp(values: readonly number[]): number {
  const highest = Math.max(...values);
  return highest + Math.log(values.reduce((sum, value) => sum + Math.exp(value - highest), 0));
}
