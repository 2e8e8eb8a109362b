import type { Redactor } from '../agent/redactor.ts';
import type { EndLine, HeaderLine, TrajectoryLine, TurnLine } from './schema.ts';

/**
 * The last guard in front of the disk. What the loop hands over is redacted already, and redaction
 * is idempotent, so observations stay as the model saw them. Texts that no model saw (reasons of
 * failures, patches, labels) are redacted here for certain.
 *
 * A sampled reply is left as it is: text and tokens must agree. Where one holds a secret the end
 * line says `localOnly`.
 */
export async function redactLine(
  line: TrajectoryLine,
  redactor: Redactor,
): Promise<TrajectoryLine> {
  switch (line.type) {
    case 'header':
      return redactHeader(line, redactor);
    case 'turn':
      return redactTurn(line, redactor);
    case 'end':
      return redactEnd(line, redactor);
  }
}

async function redactHeader(line: HeaderLine, redactor: Redactor): Promise<HeaderLine> {
  const { policy, task } = line;
  return {
    ...line,
    policy: {
      ...policy,
      label: await redactor.redact(policy.label),
      model: await redactor.redact(policy.model),
    },
    task: {
      ...task,
      targets: await redactAll(task.targets, redactor),
      workspaceName: await redactor.redact(task.workspaceName),
    },
    messages: await Promise.all(
      line.messages.map(async (message) => ({
        ...message,
        content: await redactor.redact(message.content),
      })),
    ),
  };
}

async function redactTurn(line: TurnLine, redactor: Redactor): Promise<TurnLine> {
  const observations = await Promise.all(
    line.observations.map(async (observation) => {
      const content = await redactor.redact(observation.content);
      const changed = observation.detail?.changed;
      if (!changed) return { ...observation, content };
      const detail = { ...observation.detail, changed: await redactAll(changed, redactor) };
      return { ...observation, content, detail };
    }),
  );
  if (line.nudge === undefined) return { ...line, observations };
  return { ...line, observations, nudge: await redactor.redact(line.nudge) };
}

async function redactEnd(line: EndLine, redactor: Redactor): Promise<EndLine> {
  const patch = await redactor.redact(line.patch);
  return {
    ...line,
    end: await redactReason(line.end, redactor),
    reason: await redactor.redact(line.reason),
    patch,
    ...(patch === line.patch ? {} : { patchRedacted: true }),
    summary: await redactor.redact(line.summary),
    flags: await redactAll(line.flags, redactor),
  };
}

async function redactReason(end: EndLine['end'], redactor: Redactor): Promise<EndLine['end']> {
  switch (end.kind) {
    case 'invalid_tool_call':
      return { ...end, reason: await redactor.redact(end.reason) };
    case 'infrastructure': {
      const reason = await redactor.redact(end.reason);
      if (end.remedy === undefined) return { ...end, reason };
      return { ...end, reason, remedy: await redactor.redact(end.remedy) };
    }
    default:
      return end;
  }
}

function redactAll(texts: readonly string[], redactor: Redactor): Promise<string[]> {
  return Promise.all(texts.map((text) => redactor.redact(text)));
}
