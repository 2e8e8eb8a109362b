import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { REWARDS } from '../../../src/core/agent/outcomes.ts';
import type { UploadBegin } from '../../../src/core/protocol/client-messages.ts';
import { ProtocolError } from '../../../src/core/protocol/errors.ts';
import { TrajectoryFormatError } from '../../../src/core/trajectories/errors.ts';
import { parseTrajectories } from '../../../src/core/trajectories/reader.ts';
import { trainingRows } from '../../../src/core/trajectories/rows.ts';
import type { EndLine, TurnLine } from '../../../src/core/trajectories/schema.ts';
import { sha256Of } from '../store/blobs.ts';
import type { TrajectoryEntry } from '../store/trajectories.ts';

const unzip = promisify(gunzip);

/** Rounding of float32 may lift the logarithm of a sure token above 0 by this much. */
const LOGPROB_TOLERANCE = 1e-3;

/**
 * Whether what has arrived is what was announced, and a record that can be trusted to be consistent.
 * Its reward is not looked at: that is a claim.
 *
 * @param bytes as they came. Unpacked, they take up no more memory than was announced.
 * @returns the entry. Rejects with `ProtocolError` (hash_mismatch, bad_content, not_uploadable).
 */
export async function checkUpload(
  begin: UploadBegin,
  bytes: Buffer,
  contributor: string,
): Promise<TrajectoryEntry> {
  if (sha256Of(bytes) !== begin.upload) {
    throw new ProtocolError(
      'hash_mismatch',
      `what arrived of upload ${begin.upload.slice(0, 12)} is not what was announced; it was thrown away. Send it again from the start.`,
    );
  }
  const content = await unpack(begin, bytes);
  if (sha256Of(content) !== begin.contentSha256) {
    throw bad(begin, 'its content has another sha256 than contentSha256 says');
  }
  return checkContent(begin, content.toString('utf8'), contributor);
}

async function unpack(begin: UploadBegin, bytes: Buffer): Promise<Buffer> {
  let content: Buffer;
  try {
    content = await unzip(bytes, { maxOutputLength: begin.contentBytes });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      throw bad(begin, `it unpacks to more than the ${begin.contentBytes} bytes of contentBytes`);
    }
    throw bad(begin, `it is not gzip (${error instanceof Error ? error.message : String(error)})`);
  }
  if (content.length !== begin.contentBytes) {
    throw bad(
      begin,
      `it unpacks to ${content.length} bytes, contentBytes is ${begin.contentBytes}`,
    );
  }
  return content;
}

function checkContent(begin: UploadBegin, text: string, contributor: string): TrajectoryEntry {
  const { header, turns, end } = parse(begin, text);
  if (header.attemptId !== begin.attemptId) throw bad(begin, 'its header names another attempt');
  if (!end) throw notUploadable(begin, 'it has no end: the attempt was cut off');
  if (end.localOnly) throw notUploadable(begin, 'it is marked local only');
  if (end.patchRedacted) throw notUploadable(begin, 'its patch was redacted');
  checkEnd(begin, end, turns.length);
  for (const turn of turns) checkTurn(begin, turn);
  const { counters } = trainingRows(turns);
  return {
    contributor,
    attemptId: begin.attemptId,
    seriesId: header.seriesId,
    taskId: header.task.id,
    blob: begin.upload,
    blobBytes: begin.bytes,
    content: begin.contentSha256,
    contentBytes: begin.contentBytes,
    startedAt: header.startedAt,
    policyKind: header.policy.kind,
    policyHash: header.policy.hash ?? null,
    scaffoldHash: header.scaffoldHash,
    rules: header.rules,
    outcome: end.outcome,
    claimedReward: end.reward,
    turns: turns.length,
    sampledTokens: counters.sampledTokens,
  };
}

function parse(begin: UploadBegin, text: string): ReturnType<typeof parseTrajectories>[number] {
  try {
    const [first, second] = parseTrajectories(text, begin.attemptId);
    if (!first) throw bad(begin, 'it holds no record');
    if (second) throw bad(begin, 'it holds several records');
    if (first.cut) throw notUploadable(begin, 'its last line is incomplete');
    return first;
  } catch (error) {
    if (error instanceof TrajectoryFormatError) throw bad(begin, error.message);
    throw error;
  }
}

function checkEnd(begin: UploadBegin, end: EndLine, turns: number): void {
  if (end.reward !== REWARDS[end.outcome]) {
    throw bad(begin, `reward ${end.reward} does not belong to the outcome ${end.outcome}`);
  }
  if (end.totals.turns !== turns) {
    throw bad(begin, `its end counts ${end.totals.turns} turns, the record has ${turns}`);
  }
}

function checkTurn(begin: UploadBegin, { index, reply, observations }: TurnLine): void {
  const calls = new Map(reply.calls.map(({ id, name }) => [id, name]));
  if (calls.size !== reply.calls.length) throw bad(begin, `turn ${index}: two calls have one id`);
  for (const { callId, name } of observations) {
    if (calls.get(callId) !== name) {
      throw bad(begin, `turn ${index}: an observation belongs to no call of the turn`);
    }
  }
  const { tokens } = reply;
  if (!tokens) return;
  if (tokens.sampledIds.length > 0 && tokens.promptIds.length === 0) {
    throw bad(begin, `turn ${index}: tokens were sampled after no prompt`);
  }
  const wrong = tokens.logprobs.find((value) => value > LOGPROB_TOLERANCE);
  if (wrong !== undefined) {
    throw bad(begin, `turn ${index}: ${wrong} is no logarithm of a probability`);
  }
}

function bad(begin: UploadBegin, problem: string): ProtocolError {
  return new ProtocolError('bad_content', `attempt ${begin.attemptId} cannot be taken: ${problem}`);
}

function notUploadable(begin: UploadBegin, problem: string): ProtocolError {
  return new ProtocolError(
    'not_uploadable',
    `attempt ${begin.attemptId} must stay where it is: ${problem}`,
  );
}
