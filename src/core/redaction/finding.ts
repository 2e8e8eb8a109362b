/** A place in a text that must not be shown. */
export interface Finding {
  /** Index of the first character. */
  readonly start: number;
  /** Index after the last character. */
  readonly end: number;
  /** What it is, as shown in the replacement: `[redacted:jwt]`. */
  readonly kind: string;
}

export type Detector = (text: string) => readonly Finding[];

/** Every replacement begins like this; detectors leave such values alone. */
export const MARKER = '[redacted:';

/** Overlapping findings become one, under the kind of the longest. Sorted by place. */
function mergeFindings(findings: readonly Finding[]): readonly Finding[] {
  const sorted = [...findings].sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Finding[] = [];
  let longest = 0;
  for (const finding of sorted) {
    const last = merged.at(-1);
    if (!last || finding.start >= last.end) {
      merged.push(finding);
      longest = finding.end - finding.start;
      continue;
    }
    const length = finding.end - finding.start;
    merged[merged.length - 1] = {
      start: last.start,
      end: Math.max(last.end, finding.end),
      kind: length > longest ? finding.kind : last.kind,
    };
    longest = Math.max(longest, length);
  }
  return merged;
}

/** Puts the markers in. A finding over several lines leaves as many lines as it had. */
export function replaceFindings(text: string, findings: readonly Finding[]): string {
  let result = '';
  let from = 0;
  for (const { start, end, kind } of mergeFindings(findings)) {
    const lines = text.slice(start, end).split('\n');
    result += text.slice(from, start) + lines.map(() => `${MARKER}${kind}]`).join('\n');
    from = end;
  }
  return result + text.slice(from);
}

/** Without the findings that lie inside an earlier replacement (a secret may read `assignment`). */
export function outsideMarkers(text: string, findings: readonly Finding[]): readonly Finding[] {
  const markers = [...text.matchAll(/\[redacted:[a-z0-9-]+\]/g)].map(
    (match) => [match.index, match.index + match[0].length] as const,
  );
  return findings.filter(
    ({ start, end }) => !markers.some(([from, to]) => start >= from && end <= to),
  );
}
