import type { ToolCall } from '../../agent/messages.ts';
import { createCallIds } from '../calls/call-ids.ts';
import { EDIT_SEARCH_BUDGETS } from '../edit-search/edit-search.ts';
import {
  type Policy,
  type PolicyDescription,
  PolicyFailure,
  type PolicyReply,
  type PolicyRequest,
  type PolicySession,
  type Sampling,
} from '../policy.ts';
import { callText, type FormatCall, parseReply } from './chat-format.ts';
import {
  createOnnxEngine,
  EngineFailure,
  type EngineModel,
  type EngineOptions,
  type Generation,
  type OnnxEngine,
} from './engine.ts';
import { createTokenHistory } from './history.ts';
import { type PolicyFolder, readPolicyFolder } from './policy-folder.ts';
import { createDecisions } from './replies/decision.ts';
import type { WeightedReply } from './replies/reply-set.ts';
import { END_OF_TURN_ID } from './special-tokens.ts';
import { whyNotSuited } from './suits.ts';
import { createTextStream } from './tokenizer.ts';

export interface OnnxPolicyOptions {
  readonly folder: string;
  /** Of the running scaffold; undefined: any is taken (for making and measuring policies). */
  readonly scaffoldHash: string | undefined;
  /** Instead of those in policy.json. */
  readonly sampling?: Sampling;
  /** Policies that share an engine share its process. Without one the policy starts its own. */
  readonly engine?: OnnxEngine;
  readonly engineOptions?: EngineOptions;
}

export interface OnnxPolicy extends Policy {
  readonly folder: PolicyFolder;
  /**
   * Takes the weights and the manifest of another folder for attempts that start from now on; those
   * that run stay with what they started with. Returns why a folder is refused; nothing changes then.
   */
  reload(folder: string): Promise<OnnxPolicyProblem | undefined>;
  /** Ends the process unless its engine was given. Running attempts end with `PolicyFailure`. */
  close(): Promise<void>;
}

export interface OnnxPolicyProblem {
  readonly kind: 'problem';
  /** `folder`: it cannot be used; `runtime`: nothing here can run it. */
  readonly cause: 'folder' | 'runtime';
  readonly reason: string;
  readonly remedy: string;
}

export type CreatedOnnxPolicy =
  | { readonly kind: 'policy'; readonly policy: OnnxPolicy }
  | OnnxPolicyProblem;

/** A model that is open, and how many attempts use it. */
interface Version {
  readonly folder: PolicyFolder;
  readonly model: EngineModel;
  readonly description: PolicyDescription;
  users: number;
  replaced: boolean;
}

/** The embedded policy: any number of attempts at once, decoded together. */
export async function createOnnxPolicy(options: OnnxPolicyOptions): Promise<CreatedOnnxPolicy> {
  const engine = options.engine ?? createOnnxEngine(options.engineOptions);
  const first = await openVersion(engine, options.folder, options);
  if (first.kind === 'problem') {
    if (!options.engine) await engine.close();
    return first;
  }
  let current = first.version;
  let sessions = 0;

  const release = (version: Version): void => {
    if (version.replaced && version.users === 0) version.model.close();
  };

  const policy: OnnxPolicy = {
    get description() {
      return current.description;
    },
    get folder() {
      return current.folder;
    },
    async start(seed) {
      const version = current;
      version.users += 1;
      sessions += 1;
      return startSession(version, sessions, seed, () => {
        version.users -= 1;
        release(version);
      });
    },
    whyNotSuited: (work) => whyNotSuited(current.folder.manifest, current.folder.tokenizer, work),
    async reload(folder) {
      const next = await openVersion(engine, folder, options);
      if (next.kind === 'problem') return next;
      const previous = current;
      current = next.version;
      previous.replaced = true;
      release(previous);
      return undefined;
    },
    async close() {
      current.model.close();
      if (!options.engine) await engine.close();
    },
  };
  return { kind: 'policy', policy };
}

async function openVersion(
  engine: OnnxEngine,
  path: string,
  options: Pick<OnnxPolicyOptions, 'scaffoldHash' | 'sampling'>,
): Promise<{ readonly kind: 'version'; readonly version: Version } | OnnxPolicyProblem> {
  const read = await readPolicyFolder(path, options.scaffoldHash);
  if (read.kind === 'refused') {
    return { kind: 'problem', cause: 'folder', reason: read.reason, remedy: read.remedy };
  }
  const { folder } = read;
  try {
    const model = await engine.open(folder.path, folder.shape);
    const description = describe(folder, options.sampling ?? folder.manifest.sampling);
    return {
      kind: 'version',
      version: { folder, model, description, users: 0, replaced: false },
    };
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    return { kind: 'problem', cause: 'runtime', reason: error.message, remedy: error.remedy };
  }
}

function describe({ manifest, weightsHash }: PolicyFolder, sampling: Sampling): PolicyDescription {
  const { contextTokens, name, scaffoldHash, version } = manifest;
  return {
    kind: 'onnx',
    label: version === undefined ? name : `${name} (${version})`,
    model: name,
    ...(version === undefined ? {} : { version }),
    hash: weightsHash,
    scaffoldHash,
    // A choice reads no more than fits, however long the conversation gets (replies/decision.ts).
    contextTokens: manifest.replies ? EDIT_SEARCH_BUDGETS.contextTokens : contextTokens,
    sampling,
  };
}

function startSession(
  version: Version,
  session: number,
  seed: number,
  onClose: () => void,
): PolicySession {
  const { folder, model, description } = version;
  const { tokenizer, manifest } = folder;
  const history = createTokenHistory(tokenizer, manifest.systemMessage);
  const decide =
    manifest.replies && createDecisions(tokenizer, manifest.replies, manifest.contextTokens);
  const nextId = createCallIds();
  let closed = false;
  return {
    async next(request) {
      request.signal.throwIfAborted();
      const decision = decide?.(request.messages);
      if (decision?.kind === 'follows') return following(decision.calls, nextId, request);
      const promptIds = decision?.promptIds ?? history.prompt(request.messages);
      const room = folder.manifest.contextTokens - promptIds.length;
      if (room < 1) {
        throw new PolicyFailure(
          'context-exceeded',
          `The conversation has ${promptIds.length} tokens; ${description.label} can read ${folder.manifest.contextTokens} with its reply.`,
          'Give it a smaller task, or use a model with more context.',
        );
      }
      const generation = await answered(
        model.generate({
          session,
          ids: promptIds,
          ...(decision && {
            replies: decision.replies,
            byWeights: decision.byWeights,
            weightsPower: decision.weightsPower,
          }),
          maxTokens: Math.max(
            1,
            Math.min(decision ? longest(decision.replies) : request.maxTokens, room),
          ),
          stopId: END_OF_TURN_ID,
          seed: decision ? seedOfTurn(seed, decision.turn) : seed,
          sampling: description.sampling,
          signal: request.signal,
          ...streamed(folder, request),
        }),
      );
      decision?.take(indexOf(decision.replies, generation.ids), generation.networkLogprob);
      const reply = replyFrom(folder, promptIds, generation, nextId);
      history.sampled(generation.ids, reply.content);
      return reply;
    },
    async close() {
      if (closed) return;
      closed = true;
      model.forget(session);
      onClose();
    },
  };
}

/** What follows by itself: nothing is sampled, so there is nothing to learn in it. */
function following(
  calls: readonly FormatCall[],
  nextId: () => string,
  { onText }: PolicyRequest,
): PolicyReply {
  const content = calls.map(callText).join('');
  onText?.(content);
  return {
    content,
    calls: calls.map((call) => ({ id: nextId(), ...call })),
    callForm: 'nano',
    malformed: [],
    finish: 'stop',
    usage: { promptTokens: 0, completionTokens: 0 },
    tokensMissing: 'nothing was sampled: only this could follow',
  };
}

/**
 * Draws depend on seed and place (worker/random.ts), and every choice of an attempt stands at the same
 * places: the turn goes into the upper half of the seed.
 */
function seedOfTurn(seed: number, turn: number): number {
  return (seed % 0x1_0000_0000) + (turn % 0x10_0000) * 0x1_0000_0000;
}

/** Of the reply that was drawn. @throws PolicyFailure where it is none of the set */
function indexOf(replies: readonly WeightedReply[], ids: readonly number[]): number {
  const index = replies.findIndex(
    (reply) => reply.ids.length === ids.length && reply.ids.every((id, at) => id === ids[at]),
  );
  if (index >= 0) return index;
  throw new PolicyFailure('bad-response', 'The reply is none of those that could be chosen.');
}

const longest = (replies: readonly WeightedReply[]): number =>
  Math.max(...replies.map(({ ids }) => ids.length));

async function answered(work: Promise<Generation>): Promise<Generation> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    throw new PolicyFailure('unreachable', error.message, error.remedy);
  }
}

function streamed(
  folder: PolicyFolder,
  { onText }: PolicyRequest,
): { readonly onTokens?: (ids: readonly number[]) => void } {
  if (!onText) return {};
  const stream = createTextStream(folder.tokenizer);
  return {
    onTokens(ids) {
      const text = ids
        .filter((id) => id !== END_OF_TURN_ID)
        .map((id) => stream.add(id))
        .join('');
      if (text !== '') onText(text);
    },
  };
}

function replyFrom(
  { tokenizer }: PolicyFolder,
  promptIds: readonly number[],
  { ids, logprobs, choices, drawnBy, finish }: Generation,
  nextId: () => string,
): PolicyReply {
  const content = tokenizer.decode(ids.at(-1) === END_OF_TURN_ID ? ids.slice(0, -1) : ids);
  const parsed = parseReply(tokenizer, ids);
  const calls: ToolCall[] =
    parsed.kind === 'malformed'
      ? []
      : parsed.calls.map((call) => ({
          id: nextId(),
          name: call.name,
          arguments: Object.fromEntries(call.arguments),
        }));
  const written = parsed.kind === 'malformed' || calls.length > 0;
  return {
    content,
    calls,
    callForm: written ? 'nano' : 'none',
    malformed: parsed.kind === 'malformed' ? [{ reason: parsed.reason, text: cut(content) }] : [],
    finish,
    usage: { promptTokens: promptIds.length, completionTokens: ids.length },
    ...(drawnBy === 'weights'
      ? { tokensMissing: 'the scores alone drew it: the network had no part in it' }
      : {
          tokens: {
            promptIds,
            sampledIds: ids,
            logprobs,
            ...(choices.length > 0 && { choices }),
          },
        }),
  };
}

/** To a length that can be read in a report. */
function cut(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
