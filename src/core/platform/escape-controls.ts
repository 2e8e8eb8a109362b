/** Control characters other than line ends and tabs, C1 controls, and marks that reorder text. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text that cannot move the cursor, set colours or hide itself: `\x1b` instead of an escape. */
export function escapeControls(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(CONTROLS, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
