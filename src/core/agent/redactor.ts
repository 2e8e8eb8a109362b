/**
 * What the model may see. Applied to every text before it enters the conversation, so that text,
 * tokens and record agree (DESIGN.md: redaction before the model sees anything).
 */
export interface Redactor {
  /** Secrets out, the user's paths, home, user and host names made canonical. Idempotent. */
  redact(text: string): Promise<string>;
  /** Does the text still hold a secret (asked of sampled turns)? */
  holdsSecret(text: string): Promise<boolean>;
}
