/**
 * Does a value look generated and not written? Needed where only a name says that something may be
 * secret: `password = "…"` in a test is code that the agent must see, unless the value is random.
 */

/** Values that stand where a secret would be. Compared in lower case, whole. */
const COMMON_VALUES: ReadonlySet<string> = new Set(
  `true false none null undefined yes enabled disabled default required optional unknown anonymous
  localhost development production staging testing test example sample dummy placeholder secret
  secrets password passwd password1 password123 passphrase changeme change_me change-me replaceme
  credentials token tokens apikey api_key api-key username user admin administrator root guest
  public private internal external string number boolean object function session cookie bearer
  basic digest interactive terminal keyring keychain gnome-keyring libsecret file-descriptor
  pass pass1 pass123 passwd1 pwd foo bar baz foobar abc abcd abcdef xyz 1234 12345 123456 user:pass
  swordfish hunter2 letmein qwerty12345 12345678 123456789 1234567890 abcdefgh`
    .trim()
    .split(/\s+/),
);

export function isCommonValue(value: string): boolean {
  return COMMON_VALUES.has(value.toLowerCase());
}

/** Something that is filled in later: `${TOKEN}`, `<token>`, `{{ token }}`, `xxxx`, `****`, `...`. */
export function isPlaceholder(value: string): boolean {
  return (
    /^\$|[$#]\{|\{\{|<[\w -]+>|^%[A-Za-z_]+%$|^%[sd]$|\.\.\.|…/.test(value) ||
    // A regular expression.
    /\(\?[:=!<]|\[\^?\\?\w-/.test(value) ||
    /^(.)\1+$/.test(value) ||
    /x{4,}|\*{3,}/i.test(value)
  );
}

/** Shannon entropy in bits per character. */
function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) {
    const share = count / value.length;
    bits -= share * Math.log2(share);
  }
  return bits;
}

/** For values whose form already says what they are: many different characters, not filled in later. */
export function isIssued(value: string): boolean {
  return new Set(value).size >= 10 && !/x{6,}|\*{3,}|\.{3}/i.test(value);
}

/** A long name in camel case is not random: few of its letters are capital, and it has few digits. */
export function looksLikeName(value: string): boolean {
  return (value.match(/[A-Z\d]/g) ?? []).length < 6;
}

/**
 * Letters and digits mixed, many different ones; no words and numbers joined by separators
 * (`item-1234`, `KEY_OVER_1024_CHARS`), no counting sequence.
 */
export function looksRandom(value: string, minLength = 12): boolean {
  if (value.length < minLength || isPlaceholder(value) || isCommonValue(value)) return false;
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  const parts = value.split(/[-_./=:,;\s]+/);
  if (parts.every((part) => /^(?:[A-Za-z]*\d{0,4}|\d{1,6})$/.test(part))) return false;
  if (/123456789|abcdefgh/i.test(value)) return false;
  // Of 14 random letters and digits one in some thousands has less than 3 bits; ordinary words with
  // digits were ruled out above.
  return entropy(value) >= 2.6;
}
