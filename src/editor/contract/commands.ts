/** Every command of the manifest. A unit test compares both; a missing handler does not compile. */
export const COMMANDS = [
  'primeAgent.fixFailingTest',
  'primeAgent.fixTestAtCursor',
  'primeAgent.fixTest',
  'primeAgent.runTests',
  'primeAgent.watchAttempt',
  'primeAgent.cancel',
  'primeAgent.selectPolicy',
  'primeAgent.showMenu',
  'primeAgent.showLog',
] as const;

export type CommandId = (typeof COMMANDS)[number];

/** Arguments come from menus, keybindings and other extensions: nothing is known about them. */
export type CommandHandler = (...args: readonly unknown[]) => unknown;

export type CommandHandlers = Readonly<Record<CommandId, CommandHandler>>;
