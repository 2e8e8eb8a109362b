import type { Estimate } from '../../src/core/evaluation/statistics.ts';

/** As per cent, with its interval: `43.0 % (33 to 53)`. */
export function estimateText({
  value,
  low,
  high,
}: Pick<Estimate, 'value' | 'low' | 'high'>): string {
  const whole = (share: number): string => (100 * share).toFixed(0);
  return `${(100 * value).toFixed(1)} % (${whole(low)} to ${whole(high)})`;
}
