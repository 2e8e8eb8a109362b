/**
 * Core's texts name options of the command line, where they are read most. In the editor the same
 * thing is a setting, a command or a line of the log.
 */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bpass (the|its) command: --command "[^"]*"/g, 'set $1 test command in primeAgent.testCommand'],
  [/\bName it: --include ("[^"]*")/g, 'Add $1 to primeAgent.include'],
  [/\bwith --test-timeout SECONDS\b/g, 'with primeAgent.testTimeout'],
  [/\bLeave it out with --test,/g, 'Choose other tests,'],
  [/ \(--no-parity leaves it out\)/g, ' (primeAgent.parity switches this off)'],
  [/`?--docker-image NAME`?/g, 'primeAgent.dockerImage'],
  [/ \(`--parallel 1`\)/g, ' (primeAgent.parallel)'],
  [/`?--sandbox (\w+)`?/g, 'primeAgent.sandbox “$1”'],
  [/ with --policy \S+ --model [^;\s]*[^;\s.]/g, ''],
  [/\bLeave --model out, or name an endpoint with --policy\b/g, 'Clear primeAgent.endpoint.model'],
  [/\bInstall the packages again \(npm ci\)/g, 'Install the extension again'],
  [/\bBuild it with npm run build\b/g, 'Install the extension again'],
  [/\bMake it with npm run policy:nano, or use\b/g, 'Use'],
  [/: --policy edit-search\b/g, ': edit-search'],
  [/--model\b/g, 'primeAgent.endpoint.model'],
  [/--policy\b/g, 'primeAgent.policy'],
  [/\bSee what is missing with: prime-agent doctor\b/g, 'The log says what was found'],
  [/ with: prime-agent doctor\b/g, ' in the log'],
  [/: prime-agent doctor\b/g, ' (the log names it)'],
  [/\bRun `prime-agent doctor`; it tries the sandbox and names what is missing\b/g, 'See the log'],
  [/ \(`prime-agent doctor` names it\)/g, ''],
  [/\bRun `prime-agent doctor`; it tries\b/g, 'Run “Prime Agent: Check this machine”; it tries'],
  [/\bList the tests with: prime-agent tests\b/g, 'See them with “Prime Agent: Run tests”'],
  [/\brun the same command again\b/g, 'start again'],
  [/\bMake one with: prime-agent fix\b/g, 'Make one with “Prime Agent: Fix failing test”'],
];

export function inEditorWords(text: string): string {
  return WORDS.reduce((said, [pattern, words]) => said.replace(pattern, words), text);
}
