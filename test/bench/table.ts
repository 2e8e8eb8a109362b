export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function range(values: readonly number[]): string {
  const [low, middle, high] = [Math.min(...values), median(values), Math.max(...values)];
  return `${middle.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)})`;
}

/** One line of Markdown: median and range of ours and of the peer in milliseconds, and the ratio of the medians. */
export function row(name: string, ours: readonly number[], peers: readonly number[]): string {
  const peer = peers.length > 0 ? range(peers) : 'not measured';
  const ratio = peers.length > 0 ? (median(ours) / median(peers)).toFixed(2) : '';
  return `| \`${name}\` | ${range(ours)} | ${peer} | ${ratio} |`;
}
