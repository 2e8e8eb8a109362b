/** The text of one attempt so far, for whoever begins to watch later; old text goes first. */
export interface TranscriptBuffer {
  append(text: string): void;
  text(): string;
}

export function createTranscriptBuffer(maxCharacters: number): TranscriptBuffer {
  let kept: string[] = [];
  let size = 0;
  let cut = false;
  return {
    append(text) {
      if (text === '') return;
      kept.push(text);
      size += text.length;
      while (size > maxCharacters && kept.length > 1) {
        size -= kept.shift()?.length ?? 0;
        cut = true;
      }
      // Many small pieces cost more than their text.
      if (kept.length > 1_000) kept = [kept.join('')];
    },
    text: () => `${cut ? '[…]\r\n' : ''}${kept.join('')}`,
  };
}
