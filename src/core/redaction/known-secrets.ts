import type { Detector, Finding } from './finding.ts';

/** Shortest encoded piece that is looked for; shorter ones would hit by chance. */
const MIN_PIECE = 10;

/** Shortest piece of a value that is taken for one where a text was cut. */
const MIN_CUT_PIECE = 6;

/** Shortest line of a value with several lines that is looked for by itself. */
const MIN_LINE = 16;

/**
 * Finds known values, as written and as base64, base64url, hexadecimal, percent-encoded and
 * JSON-escaped copies. Case of hexadecimal digits does not matter. Copies that are broken over
 * lines, reversed, or encoded twice are not found.
 */
export function createKnownSecrets(values: Iterable<string>): Detector {
  const plain = new Set<string>();
  const hexadecimal = new Set<string>();
  for (const value of withLines(values)) {
    for (const piece of encodings(value)) plain.add(piece);
    const hex = Buffer.from(value, 'utf8').toString('hex');
    if (hex.length >= MIN_PIECE) hexadecimal.add(hex);
  }
  const pieces = [...plain];
  const hexPieces = [...hexadecimal];

  return (text) => {
    const findings: Finding[] = [];
    for (const piece of pieces) collect(text, piece, findings);
    if (hexPieces.length > 0 && /[0-9a-f]{16}/i.test(text)) {
      const lower = text.toLowerCase();
      // Lowering some characters changes their length; then places would not fit.
      if (lower.length === text.length) {
        for (const piece of hexPieces) collect(lower, piece, findings);
      }
    }
    if (text.includes('…')) findings.push(...findCutPieces(text, pieces));
    return findings;
  };
}

/** Where an observation was cut (`[… 12 bytes left out …]`), a value may have been cut in two. */
function findCutPieces(text: string, pieces: readonly string[]): readonly Finding[] {
  const findings: Finding[] = [];
  for (const mark of text.matchAll(/\s*\[… [^\]\n]{1,40}\]\s*/g)) {
    const after = mark.index + mark[0].length;
    for (const piece of pieces) {
      for (let length = piece.length - 1; length >= MIN_CUT_PIECE; length--) {
        if (text.startsWith(piece.slice(0, length), mark.index - length)) {
          findings.push({ start: mark.index - length, end: mark.index, kind: 'secret' });
          break;
        }
      }
      for (let length = piece.length - 1; length >= MIN_CUT_PIECE; length--) {
        if (text.startsWith(piece.slice(-length), after)) {
          findings.push({ start: after, end: after + length, kind: 'secret' });
          break;
        }
      }
    }
  }
  return findings;
}

/** Of a value with several lines (a key) each long line is a secret of its own. */
function* withLines(values: Iterable<string>): Generator<string> {
  for (const value of values) {
    if (value.length === 0) continue;
    yield value;
    if (!value.includes('\n')) continue;
    for (const line of value.split(/\r?\n/)) {
      if (line.length >= MIN_LINE && !line.startsWith('-----')) yield line;
    }
  }
}

function collect(text: string, piece: string, findings: Finding[]): void {
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + piece.length)) {
    findings.push({ start: at, end: at + piece.length, kind: 'secret' });
  }
}

function encodings(value: string): readonly string[] {
  const pieces = [value, JSON.stringify(value).slice(1, -1)];
  const percent = encodeURIComponent(Buffer.from(value, 'utf8').toString('utf8'));
  pieces.push(
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
  );
  pieces.push(percent.replaceAll('%20', '+'));
  for (const offset of [0, 1, 2]) {
    const base64 = base64Piece(value, offset);
    if (base64.length < MIN_PIECE) continue;
    pieces.push(base64, base64.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return pieces;
}

/**
 * What base64 of any longer text shows of `value` when it begins at `offset` modulo 3: the
 * characters that depend on `value` alone.
 */
function base64Piece(value: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value, 'utf8')]);
  const encoded = bytes.toString('base64').replace(/=+$/, '');
  const first = offset === 0 ? 0 : offset + 1;
  const last = Math.floor((bytes.length * 8) / 6);
  return encoded.slice(first, last);
}
