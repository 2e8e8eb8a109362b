import type { Redactor } from '../agent/redactor.ts';
import { environmentSecrets } from './environment.ts';
import { type Finding, outsideMarkers, replaceFindings } from './finding.ts';
import { createKnownSecrets } from './known-secrets.ts';
import { findByForm } from './patterns.ts';
import { type PlaceOptions, placeReplacements } from './places.ts';
import { createSecretlintRules } from './secretlint.ts';

export interface RedactorOptions extends PlaceOptions {
  /** The host's environment: values of variables with a secret's name are looked for everywhere. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Further values to look for, for example from `workspaceSecrets`. */
  readonly extraSecrets?: readonly string[];
}

/**
 * A replacement can bring two pieces together that now match; after this many rounds the text is
 * taken as it is. Seen in practice: one round for a clean text, two for one with findings.
 */
const MAX_ROUNDS = 5;

/**
 * What a model and a record may see of this machine. Secrets become `[redacted:kind]`, places and
 * names become the same everywhere. The number of lines stays. Applying it again changes nothing.
 *
 * A view of a file is redacted as well, so an edit whose `old_str` lies in a redacted place does
 * not find its text and fails as an observation: the agent cannot edit what it may not see.
 */
export function createRedactor(options: RedactorOptions): Redactor {
  const secretlint = createSecretlintRules();
  const findKnown = createKnownSecrets([
    ...environmentSecrets(options.environment ?? {}),
    ...(options.extraSecrets ?? []),
  ]);
  const places = placeReplacements(options);

  const findSecrets = async (text: string): Promise<readonly Finding[]> => {
    const findings = [...findKnown(text), ...findByForm(text), ...(await secretlint.find(text))];
    return findings.length === 0 ? findings : outsideMarkers(text, findings);
  };

  const redactOnce = async (text: string): Promise<string> => {
    // Secrets first: a home path inside a secret must not make it unrecognisable.
    let result = replaceFindings(text, await findSecrets(text));
    for (const [expression, replacement] of places) {
      result = result.replace(expression, replacement);
    }
    return result;
  };

  return {
    async redact(text) {
      let current = text;
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const next = await redactOnce(current);
        if (next === current) break;
        current = next;
      }
      return current;
    },
    async holdsSecret(text) {
      return (await findSecrets(text)).length > 0;
    },
  };
}
