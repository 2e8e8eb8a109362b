import type { ClientMessage } from '../../../src/core/protocol/client-messages.ts';
import { ProtocolError, toWire } from '../../../src/core/protocol/errors.ts';
import { MAX_SERIES_POINTS } from '../../../src/core/protocol/limits.ts';
import type { ServerMessage } from '../../../src/core/protocol/server-messages.ts';
import type { Identity } from '../store/tokens.ts';
import type { LiveParts } from './parts.ts';

type Question = Extract<ClientMessage, { type: 'status.get' | 'series.get' | 'control' }>;

/** Questions that have one answer. */
export function answer(question: Question, identity: Identity, parts: LiveParts): ServerMessage {
  const { id } = question;
  switch (question.type) {
    case 'status.get':
      return { type: 'status', id, snapshot: parts.snapshot() };
    case 'series.get': {
      const limit = question.limit ?? MAX_SERIES_POINTS;
      const found = parts.news.points(question.name, question.after, limit + 1);
      const points = found.slice(0, limit);
      const next = points.at(-1)?.cursor ?? question.after;
      const more = found.length > limit;
      return { type: 'series', id, name: question.name, points, next, more };
    }
    case 'control': {
      if (identity.role !== 'admin') {
        const text = `${question.action} is for admins; this token is a contributor's`;
        return { type: 'error', id, error: toWire(new ProtocolError('forbidden', text)) };
      }
      const state = question.action === 'pause' ? 'paused' : 'running';
      parts.meta.setState(state, question.reason);
      parts.wake();
      const why = question.reason ? `: ${question.reason}` : '';
      parts.announce(
        `${identity.contributor} has ${state === 'paused' ? 'paused' : 'resumed'} the server${why}`,
      );
      return { type: 'control.done', id, state };
    }
  }
}
