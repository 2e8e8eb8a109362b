import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type { SecretLintRuleContext, SecretLintSourceCode } from '@secretlint/types';
import type { Finding } from './finding.ts';

/**
 * Secretlint's recommended rules, each created once and then asked of every text.
 *
 * They are driven through their own interface and not through `lintSource` of @secretlint/core:
 * that one creates every rule anew for every text and keeps profiling entries for as long as the
 * process lives, which a language server or an extension host would feel.
 */

/**
 * Left out: comments in the text that switch rules off (the text is not the one to decide), the
 * rule about Google's key files (it reads files; the key block inside is found anyway), the rule
 * about private keys (`private-keys.ts` also finds numbered and cut ones), and the two rules about
 * URLs (they take the whole URL; `patterns.ts` takes the password alone, in more schemes).
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  '@secretlint/secretlint-rule-filter-comments',
  '@secretlint/secretlint-rule-gcp',
  '@secretlint/secretlint-rule-privatekey',
  '@secretlint/secretlint-rule-basicauth',
  '@secretlint/secretlint-rule-database-connection-string',
]);

/** AWS: access key ids as well; off by default because they are only half of a credential. */
const OPTIONS = { enableIDScanRule: true };

/** A text without any of these cannot match: most observations end here. */
const MAY_MATCH =
  /A3T|AKIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ASIA|access|account|_authToken|x-oauth|npm_|xox|xapp|hooks\.slack|SG\.|shp(?:pa|ca|at|ss)_|gh[pousr]_|github_pat|sk-|lin_api_|ops_ey/i;

export interface SecretlintRules {
  find(text: string): Promise<readonly Finding[]>;
}

export function createSecretlintRules(): SecretlintRules {
  let found: Finding[] = [];
  const active = rules
    .filter((rule) => !LEFT_OUT.has(rule.meta.id))
    .map((rule) => {
      const kind = rule.meta.id.replace(/^.*secretlint-rule-/, '');
      return rule.create(
        contextOf(kind, (finding) => found.push(finding)),
        OPTIONS,
      );
    });
  // The rules report into one shared list, so one text at a time.
  let queue: Promise<unknown> = Promise.resolve();

  const scan = async (text: string): Promise<readonly Finding[]> => {
    found = [];
    const source = sourceOf(text);
    for (const rule of active) await rule.file?.(source);
    return found;
  };

  return {
    find(text) {
      if (!MAY_MATCH.test(text)) return Promise.resolve([]);
      const result = queue.then(() => scan(text));
      queue = result.catch(() => undefined);
      return result;
    },
  };
}

function contextOf(kind: string, report: (finding: Finding) => void): SecretLintRuleContext {
  return {
    sharedOptions: {},
    // The wording of the rules' messages is of no use here.
    createTranslator: () => (messageId) => ({
      message: '',
      messageId: String(messageId),
      data: undefined,
    }),
    report: ({ range }) => report({ start: range[0], end: range[1], kind }),
    ignore: () => undefined,
  };
}

function sourceOf(content: string): SecretLintSourceCode {
  const unsupported = (): never => {
    throw new Error('a secretlint rule asked for positions, which redaction does not offer');
  };
  return {
    hasBOM: false,
    content,
    filePath: undefined,
    physicalFilePath: undefined,
    contentType: 'text',
    ext: '',
    getFilePath: () => undefined,
    getPhysicalFilePath: () => undefined,
    locationToRange: unsupported,
    rangeToLocation: unsupported,
    positionToIndex: unsupported,
    indexToPosition: unsupported,
  };
}
