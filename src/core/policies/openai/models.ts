import { PolicyFailure } from '../policy.ts';
import { networkTrouble, saidBy, statusTrouble } from './failures.ts';
import { type Exchange, readAll, send } from './http.ts';
import { modelListSchema, type ServedModel, servedModels } from './wire.ts';

export type ModelsResult =
  | { readonly kind: 'models'; readonly models: readonly ServedModel[] }
  /** The server answers but has no list; asking a model by name may still work. */
  | { readonly kind: 'unlisted'; readonly said: string };

/** Reading a list of models is quick, whatever the model needs for a reply. */
const LIST_MS = 15_000;

/** @throws PolicyFailure when the server cannot be reached or refuses access. */
export async function fetchModels(
  exchange: Exchange,
  clean: (text: string) => string,
  signal: AbortSignal,
): Promise<ModelsResult> {
  const { endpoint, timeouts } = exchange;
  const place = { label: endpoint.label, model: 'any model', answeredBefore: false };
  const listMs = Math.min(LIST_MS, timeouts.firstTokenMs);
  const quick = { ...exchange, timeouts: { ...timeouts, firstTokenMs: listMs, silenceMs: listMs } };
  let status: number;
  let body: string;
  try {
    const http = await send(quick, 'GET', '/models', undefined, signal);
    status = http.status;
    body = await readAll(http, 8_000_000);
  } catch (error) {
    signal.throwIfAborted();
    const { failure } = networkTrouble(error, place);
    throw new PolicyFailure(failure.kind, clean(failure.message), failure.remedy);
  }
  const said = clean(saidBy(body));
  if (status === 401 || status === 403 || status === 407) {
    throw statusTrouble(status, said, undefined, place).failure;
  }
  if (status !== 200) return { kind: 'unlisted', said };
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    value = undefined;
  }
  const list = modelListSchema.safeParse(value);
  if (list.success) return { kind: 'models', models: servedModels(list.data) };
  if (value === undefined) {
    throw new PolicyFailure(
      'bad-response',
      `${endpoint.label} answered with ${body.trimStart().startsWith('<') ? said : 'something that is not JSON'}.`,
      'Check the address: it must lead to an OpenAI-compatible server and usually ends in /v1.',
    );
  }
  return { kind: 'unlisted', said };
}
