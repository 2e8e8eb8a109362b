/** Every command of the manifest. A unit test compares both; a missing handler does not compile. */
export const COMMANDS = [
  'primeAgent.fixFailingTest',
  'primeAgent.fixWithHint',
  'primeAgent.fixTestAtCursor',
  'primeAgent.fixTest',
  'primeAgent.runTests',
  'primeAgent.watchAttempt',
  'primeAgent.acceptChange',
  'primeAgent.discardChange',
  'primeAgent.acceptFile',
  'primeAgent.discardFile',
  'primeAgent.acceptAll',
  'primeAgent.discardAll',
  'primeAgent.showChanges',
  'primeAgent.showEvidence',
  'primeAgent.closeReview',
  'primeAgent.openTranscript',
  'primeAgent.showWholeTranscript',
  'primeAgent.openAttemptDiff',
  'primeAgent.replayAttempt',
  'primeAgent.deleteAttempt',
  'primeAgent.exportAttempt',
  'primeAgent.copyAttemptId',
  'primeAgent.groupAttemptsByDay',
  'primeAgent.groupAttemptsByFix',
  'primeAgent.refreshAttempts',
  'primeAgent.showMoreAttempts',
  'primeAgent.cancel',
  'primeAgent.selectPolicy',
  'primeAgent.connectServer',
  'primeAgent.shareAttempts',
  'primeAgent.showOutbox',
  'primeAgent.openExample',
  'primeAgent.checkMachine',
  'primeAgent.openWalkthrough',
  'primeAgent.showMenu',
  'primeAgent.showLog',
] as const;

export type CommandId = (typeof COMMANDS)[number];

/** Arguments come from menus, keybindings and other extensions: nothing is known about them. */
export type CommandHandler = (...args: readonly unknown[]) => unknown;

export type CommandHandlers = Readonly<Record<CommandId, CommandHandler>>;
