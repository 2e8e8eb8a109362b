import { stat } from 'node:fs/promises';
import { feedbackPath, readFeedback } from '../../core/trajectories/feedback.ts';
import { readTrajectory } from '../../core/trajectories/reader.ts';
import { type RenderOptions, renderTranscript } from './render.ts';

export interface RecordText {
  readonly text: string;
  /** Ids of tests. */
  readonly targets: readonly string[];
}

/** Rejects with `TrajectoryFormatError`, or with the file system's error. */
export async function recordText(
  path: string,
  options: Omit<RenderOptions, 'feedback'>,
): Promise<RecordText> {
  const [trajectory, feedback] = await Promise.all([readTrajectory(path), readFeedback(path)]);
  return {
    text: renderTranscript(trajectory, { ...options, feedback }),
    targets: trajectory.header.task.targets,
  };
}

/** Changes when the record, or what became of its patch, does. */
export async function recordStamp(path: string): Promise<string> {
  const stamps = await Promise.all(
    [path, feedbackPath(path)].map((file) =>
      stat(file).then(
        ({ size, mtimeMs }) => `${size} ${mtimeMs}`,
        () => '-',
      ),
    ),
  );
  return stamps.join();
}
