import { posix } from 'node:path';

/** One test program (or the doc tests of one crate) in cargo's output. */
export interface Program {
  /** Name of the executable, or `doc CRATE`. */
  readonly key: string;
  /** As cargo prints it, relative to the package; empty for doc tests. */
  readonly source: string;
  readonly isDoc: boolean;
  readonly tests: readonly string[];
}

export interface ProgramRun extends Program {
  readonly results: ReadonlyMap<string, ProgramResult>;
  /** Listed, without a result. */
  readonly missing: readonly string[];
  /** The program said `test result: …`. */
  readonly ended: boolean;
  /** How it ended instead, as cargo says it: `signal: 6, SIGABRT: process abort signal`. */
  readonly exit: string | undefined;
  /** Lines that belong to no test. */
  readonly rest: string;
}

export interface ProgramResult {
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly output: string;
}

const HEADING = /^\s+(?:Running (?:unittests )?(\S.*?) \((.+)\)|Doc-tests (\S+))$/;

interface Part {
  readonly program: Omit<Program, 'tests'>;
  readonly lines: string[];
}

/** Cut at the lines by which cargo says what runs next. */
function parts(text: string): readonly Part[] {
  const found: Part[] = [];
  for (const line of text.split('\n')) {
    const heading = HEADING.exec(line);
    if (!heading) {
      found.at(-1)?.lines.push(line);
      continue;
    }
    const [, source = '', executable = '', crate] = heading;
    const isDoc = crate !== undefined;
    const key = isDoc ? `doc ${crate}` : posix.basename(executable);
    found.push({ program: { key, source, isDoc }, lines: [] });
  }
  return found;
}

/** Of `cargo test -- --list --format terse`: `tests::adds: test`. */
export function readListing(text: string): readonly Program[] {
  return parts(text).map(({ program, lines }) => ({
    ...program,
    tests: lines.flatMap((line) => /^(.+): (?:test|benchmark)$/.exec(line)?.[1] ?? []),
  }));
}

/** Of `cargo test`. Results count for listed tests only: what tests print may look like one. */
export function readRuns(text: string, listed: readonly Program[]): readonly ProgramRun[] {
  return parts(text).map(({ program, lines }) => {
    const tests = listed.find(({ key }) => key === program.key)?.tests ?? [];
    return readRun({ ...program, tests }, lines);
  });
}

const STATUS: Readonly<Record<string, ProgramResult['status']>> = {
  ok: 'passed',
  FAILED: 'failed',
  ignored: 'skipped',
};

function readRun(program: Program, lines: readonly string[]): ProgramRun {
  const known = new Set(program.tests);
  const statuses = new Map<string, ProgramResult['status']>();
  const outputs = new Map<string, string[]>();
  const rest: string[] = [];
  let ended = false;
  let exit: string | undefined;
  /** Printed its name, not yet its result: with one thread what a test prints comes between. */
  let begun: string | undefined;
  let inFailures = false;
  let shown: string | undefined;
  const finish = (name: string, word: string): void => {
    const status = STATUS[word];
    // A second result is not the program's own: the worse one counts.
    if (status !== undefined && statuses.get(name) !== 'failed') statuses.set(name, status);
  };
  for (const line of lines) {
    exit ??= /^\s+process didn't exit successfully: .* \((.+)\)$/.exec(line)?.[1];
    if (/^test result: /.test(line)) {
      ended = true;
      inFailures = false;
      shown = undefined;
      continue;
    }
    const block = /^---- (.+) (?:stdout|stderr) ----$/.exec(line)?.[1];
    if (line === 'failures:') {
      inFailures = true;
      shown = undefined;
    } else if (inFailures && block !== undefined && known.has(block)) {
      shown = block;
    } else if (inFailures && shown !== undefined) {
      outputs.set(shown, [...(outputs.get(shown) ?? []), line]);
    } else if (!inFailures) {
      const [, text = '', after] = /^test (.+?) \.\.\.(?: (.*))?$/.exec(line) ?? [];
      const name = text.replace(/ - should panic$/, '');
      if (text !== '' && known.has(name)) {
        begun = name;
        const word = /(ok|FAILED|ignored)(?:, .*)?(?: <[\d.]+s>)?$/.exec(after ?? '')?.[1];
        if (word !== undefined) {
          finish(name, word);
          begun = undefined;
        }
      } else {
        const word = begun === undefined ? undefined : /(ok|FAILED)$/.exec(line)?.[1];
        if (begun !== undefined && word !== undefined) {
          finish(begun, word);
          begun = undefined;
        } else rest.push(line);
      }
    }
  }
  return {
    ...program,
    results: new Map(
      [...statuses].map(([name, status]) => [
        name,
        { status, output: (outputs.get(name) ?? []).join('\n').trim() },
      ]),
    ),
    missing: program.tests.filter((name) => !statuses.has(name)),
    ended,
    exit,
    rest: rest.join('\n').trim(),
  };
}
