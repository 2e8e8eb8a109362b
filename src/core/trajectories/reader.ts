import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { schemaProblems } from '../platform/schema-problems.ts';
import { TrajectoryFormatError } from './errors.ts';
import {
  type EndLine,
  type HeaderLine,
  TRAJECTORY_VERSION,
  type TrajectoryLine,
  type TurnLine,
  trajectoryLineSchema,
} from './schema.ts';
import type { Trajectory } from './trajectory.ts';

/** Reads one record. Rejects with `TrajectoryFormatError`, or with the file system's error. */
export async function readTrajectory(path: string): Promise<Trajectory> {
  return single(parseTrajectories(await readFile(path, 'utf8'), path), path);
}

/**
 * Reads records one after the other, as `export --format jsonl` writes them.
 *
 * A last line without its line break is what a crash leaves: it is left out (`cut`) when it is not
 * complete. Anything else that does not fit is an error that names file, line and field.
 */
export function parseTrajectories(text: string, file: string): readonly Trajectory[] {
  const lines = text.split('\n');
  const unfinished = lines.pop() ?? '';
  const trajectories: Open[] = [];
  lines.forEach((line, index) => {
    addLine(trajectories, parseLine(line, file, index + 1, trajectories.at(-1)), file, index + 1);
  });
  if (unfinished !== '') {
    const last = trajectories.at(-1);
    if (isJson(unfinished)) {
      const number = lines.length + 1;
      addLine(trajectories, parseLine(unfinished, file, number, last), file, number);
    } else if (last) {
      last.cut = true;
    }
  }
  return trajectories;
}

interface Open {
  readonly header: HeaderLine;
  readonly turns: TurnLine[];
  end: EndLine | undefined;
  cut: boolean;
}

function single(trajectories: readonly Trajectory[], file: string): Trajectory {
  const [first, second] = trajectories;
  if (!first) {
    throw new TrajectoryFormatError(
      file,
      1,
      'no header: the attempt was cut off before its first line was written',
    );
  }
  if (second) throw new TrajectoryFormatError(file, 1, 'holds several records; one was expected');
  return first;
}

function addLine(trajectories: Open[], line: TrajectoryLine, file: string, number: number): void {
  if (line.type === 'header') {
    trajectories.push({ header: line, turns: [], end: undefined, cut: false });
    return;
  }
  const current = trajectories.at(-1);
  if (!current) {
    throw new TrajectoryFormatError(
      file,
      number,
      `a line of type ${line.type} comes before any header`,
    );
  }
  if (current.end) {
    throw new TrajectoryFormatError(file, number, `a line of type ${line.type} follows the end`);
  }
  if (line.type === 'end') {
    current.end = line;
    return;
  }
  if (line.index !== current.turns.length) {
    throw new TrajectoryFormatError(
      file,
      number,
      `index: expected turn ${current.turns.length}, found ${line.index}`,
    );
  }
  current.turns.push(line);
}

function parseLine(
  line: string,
  file: string,
  number: number,
  current: Open | undefined,
): TrajectoryLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TrajectoryFormatError(file, number, `not JSON (${why})`);
  }
  const version = versionOf(value) ?? current?.header.version ?? TRAJECTORY_VERSION;
  checkVersion(version, file, number);
  let parsed = trajectoryLineSchema.safeParse(value);
  if (!parsed.success && isNewerMinor(version)) {
    // A newer minor version only adds fields: those that are unknown here are dropped.
    parsed = trajectoryLineSchema.safeParse(withoutUnknownKeys(value, parsed.error));
  }
  if (!parsed.success) throw new TrajectoryFormatError(file, number, schemaProblems(parsed.error));
  return parsed.data;
}

function versionOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  if (value.type !== 'header' || !('version' in value)) return undefined;
  return typeof value.version === 'string' ? value.version : undefined;
}

function checkVersion(version: string, file: string, number: number): void {
  const [major, minor] = numbersOf(version);
  const [ownMajor] = numbersOf(TRAJECTORY_VERSION);
  if (Number.isNaN(major) || Number.isNaN(minor)) {
    throw new TrajectoryFormatError(file, number, `version: '${version}' is not a version`);
  }
  if (major > ownMajor) {
    throw new TrajectoryFormatError(
      file,
      number,
      `version: ${version} was written by a newer Prime Agent; this one reads ${ownMajor}.x. Update Prime Agent to read it.`,
    );
  }
  if (major < ownMajor) {
    throw new TrajectoryFormatError(
      file,
      number,
      `version: ${version} is older than what can be read (${ownMajor}.x). Export it with the Prime Agent that wrote it.`,
    );
  }
}

function isNewerMinor(version: string): boolean {
  return numbersOf(version)[1] > numbersOf(TRAJECTORY_VERSION)[1];
}

function numbersOf(version: string): readonly [number, number] {
  const match = /^(\d+)\.(\d+)$/.exec(version);
  return [Number(match?.[1] ?? Number.NaN), Number(match?.[2] ?? Number.NaN)];
}

function withoutUnknownKeys(value: unknown, error: z.ZodError): unknown {
  const copy: unknown = structuredClone(value);
  for (const issue of error.issues) {
    if (issue.code !== 'unrecognized_keys') continue;
    let at: unknown = copy;
    for (const step of issue.path) at = isObject(at) ? at[step] : undefined;
    if (!isObject(at)) continue;
    for (const key of issue.keys) delete at[key];
  }
  return copy;
}

function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
