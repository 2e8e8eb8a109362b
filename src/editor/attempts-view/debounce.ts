/** Does the work once, a while after the first of several calls: a stream of calls cannot put it off for ever. */
export interface Debounce {
  readonly call: () => void;
  dispose(): void;
}

export function createDebounce(milliseconds: number, work: () => void): Debounce {
  let timer: NodeJS.Timeout | undefined;
  return {
    call() {
      timer ??= setTimeout(() => {
        timer = undefined;
        work();
      }, milliseconds);
    },
    dispose() {
      clearTimeout(timer);
    },
  };
}
