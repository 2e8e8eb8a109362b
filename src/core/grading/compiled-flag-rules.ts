import { anyOf } from './any-of.ts';
import type { FlagRule } from './flag-rules.ts';

/** The rules of `FLAG_RULES` for Go, Rust and the languages of the JVM. */
export const COMPILED_FLAG_RULES: readonly FlagRule[] = [
  {
    rule: 'runner-internals',
    explanation: 'reaches into the test runner',
    language: 'go',
    pattern: anyOf(
      /["`](?:testing(?:\/\w+)?|internal\/testlog)["`]/,
      /["`]github\.com\/(?:stretchr\/testify|onsi\/(?:ginkgo|gomega)|google\/go-cmp)[^"`\n]*["`]/,
      /\bgo:linkname\b|\btesting\s*\.\s*[A-Z]/,
      // Lines of `go test`, of which results are made.
      /["`](?:\\n|\s)*(?:--- (?:PASS|FAIL|SKIP)|=== RUN|(?:PASS|FAIL|ok)(?:\\n|\s|["`]))/,
    ),
  },
  {
    rule: 'exit',
    explanation: 'ends the process, or hooks into its end or start',
    language: 'go',
    pattern: anyOf(
      /\bos\s*\.\s*Exit\b|\bsyscall\s*\.\s*(?:Exit|Kill|Exec)\b|\bruntime\s*\.\s*Goexit\b/,
      /\blog\s*\.\s*Fatal\w*|\bos\s*\.\s*FindProcess\b|["`]os\/signal["`]/,
      /^\s*func\s+init\s*\(\s*\)/,
    ),
  },
  {
    rule: 'builtins',
    explanation: 'goes around the rules of the language',
    language: 'go',
    pattern: /["`](?:unsafe|plugin|C)["`]|\bunsafe\s*\.\s*[A-Z]|\breflect\s*\.\s*NewAt\b/,
  },
  {
    rule: 'test-detection',
    explanation: 'asks whether it is being tested, or by whom it is called',
    language: 'go',
    pattern: anyOf(
      /\bos\s*\.\s*(?:Args|Executable)\b|\bflag\s*\.\s*(?:Lookup|VisitAll|CommandLine)\b/,
      /\bruntime\s*\.\s*(?:Callers?|CallersFrames|FuncForPC|Stack)\b|\bdebug\s*\.\s*(?:Stack|PrintStack|ReadBuildInfo)\b/,
    ),
  },
  {
    rule: 'test-files',
    explanation: 'names files of tests in the code under test',
    language: 'go',
    pattern: /["`][^"`\n]*(?:_test\.go|\btestdata\b|\.test["`])/,
  },
  {
    rule: 'descriptors',
    explanation: 'writes to descriptors or takes over the output',
    language: 'go',
    pattern:
      /\bos\s*\.\s*(?:NewFile\b|Std(?:out|err)\s*=[^=]|Std(?:out|err)\s*\.\s*Fd\b)|\bsyscall\s*\.\s*(?:Write|Dup[23]?|Open|Pipe2?)\b/,
  },
  {
    rule: 'dynamic-code',
    explanation: 'starts programs or loads code',
    language: 'go',
    pattern:
      /["`](?:os\/exec|go\/(?:ast|parser|build|types))["`]|\bexec\s*\.\s*Command|\bos\s*\.\s*StartProcess\b|\bgo:generate\b/,
  },
  {
    rule: 'runner-internals',
    explanation: 'reaches into the test runner, or runs before it',
    language: 'rust',
    pattern: anyOf(
      /\bextern\s+crate\s+test\b|\btest\s*::\s*(?:test_main|run_test)|\blibtest\b/,
      /#!?\s*\[\s*(?:ctor|dtor|no_mangle|export_name|link_section|panic_handler|global_allocator|test_runner|feature)\b/,
      /#!?\s*\[\s*unsafe\s*\(\s*(?:no_mangle|export_name|link_section)/,
      // Lines of libtest, of which results are made.
      /"(?:\\n|\s)*(?:test [^"\n]*\.\.\. |test result:|running \d)|\b\.\.\. ok\b/,
    ),
  },
  {
    rule: 'assertion-library',
    explanation: 'changes how assertions fail',
    language: 'rust',
    pattern: anyOf(
      /\bmacro_rules!\s*(?:debug_)?(?:assert\w*|panic|unreachable|matches)\b/,
      /\buse\s+[\w:{}\s,]*\bas\s+(?:debug_)?assert\w*/,
      /\bpanic\s*::\s*(?:set_hook|take_hook|catch_unwind|update_hook|resume_unwind)\b|\bcatch_unwind\b/,
    ),
  },
  {
    rule: 'exit',
    explanation: 'ends the process',
    language: 'rust',
    pattern:
      /\bprocess\s*::\s*(?:exit|abort|\{[^}]*\b(?:exit|abort)\b)|\bintrinsics\s*::\s*abort\b|\blibc\s*::/,
  },
  {
    rule: 'comparison',
    explanation: 'redefines how values compare or are shown',
    language: 'rust',
    pattern: /\bimpl\b[^{;]{0,200}\b(?:Partial)?(?:Eq|Ord)\b(?:\s*<[^{;]{0,200}>)?\s+for\b/,
  },
  {
    rule: 'builtins',
    explanation: 'goes around the rules of the language',
    language: 'rust',
    pattern: /\bunsafe\b|\btransmute\b|\bextern\s+"C"/,
  },
  {
    rule: 'test-detection',
    explanation: 'asks whether it is being tested, or by whom it is called',
    language: 'rust',
    pattern: anyOf(
      /\bcfg!\s*\([^)]*\btest\b|\bcfg\s*\(\s*not\s*\(\s*test\b|\bcfg_attr\s*\([^)]*\btest\b/,
      /\bthread\s*::\s*current\b|\benv\s*::\s*(?:args|args_os|current_exe|vars)\b|\b[Bb]acktrace\b|\btrack_caller\b|\bLocation\s*::\s*caller\b/,
      /\b(?:option_)?env!\s*\(\s*"CARGO_|"(?:RUST_TEST\w*|CARGO_\w+|NEXTEST\w*)"/,
    ),
  },
  {
    rule: 'descriptors',
    explanation: 'writes to descriptors or takes over the output',
    language: 'rust',
    pattern: /\bfrom_raw_fd\b|\bFromRawFd\b|\bset_output_capture\b|\bas_raw_fd\b/,
  },
  {
    rule: 'dynamic-code',
    explanation: 'starts programs, or takes code from elsewhere',
    language: 'rust',
    pattern:
      /\bprocess\s*::\s*(?:Command\b|\{[^}]*\bCommand\b)|\bCommand\s*::\s*new\b|\binclude!|\blibloading\b|#\s*\[\s*path\s*=/,
  },
  {
    rule: 'runner-internals',
    explanation: 'reaches into the test runner or the build tool',
    language: 'java',
    pattern:
      /\b(?:org\s*\.\s*(?:junit|testng|gradle|spockframework|apache\s*\.\s*maven)|junit\s*\.\s*(?:framework|extensions|runner)|io\s*\.\s*kotest|kotlin\s*\.\s*test|spock\s*\.\s*lang)\b/,
  },
  {
    rule: 'assertion-library',
    explanation: 'uses or changes the assertion library in the code under test',
    language: 'java',
    pattern:
      /\b(?:org\s*\.\s*(?:opentest4j|assertj|hamcrest|mockito|easymock)|io\s*\.\s*mockk|com\s*\.\s*google\s*\.\s*common\s*\.\s*truth)\b|\bAssertion(?:Failed)?Error\b/,
  },
  {
    rule: 'exit',
    explanation: 'ends the process or hooks into its end',
    language: 'java',
    pattern:
      /\bSystem\s*\.\s*exit\b|\bRuntime\s*\.\s*getRuntime\b|\baddShutdownHook\b|\bexitProcess\b|\bhalt\s*\(|\bset(?:Default)?UncaughtExceptionHandler\b|\bSecurityManager\b/,
  },
  {
    rule: 'comparison',
    explanation: 'redefines how values compare',
    language: 'java',
    pattern: /\b(?:boolean|fun|def|int)\s+(?:equals|hashCode)\s*\(|\boperator\s+fun\s+compareTo\b/,
  },
  {
    rule: 'builtins',
    explanation: 'goes around the rules of the language',
    language: 'java',
    pattern:
      /\bjava\s*\.\s*lang\s*\.\s*(?:reflect|instrument|invoke)\b|\bset(?:Accessible|metaClass)\b|\bmetaClass\b|\b(?:sun|jdk)\s*\.\s*(?:misc|internal)\b|\bUnsafe\b|\bgetDeclared(?:Field|Method|Constructor)s?\b/,
  },
  {
    rule: 'test-detection',
    explanation: 'asks whether it is being tested, or by whom it is called',
    language: 'java',
    pattern:
      /\b(?:getStackTrace|StackWalker|currentThread|ProcessHandle|ManagementFactory|getAllStackTraces)\b|["'](?:java\.class\.path|sun\.java\.command|surefire[^"'\n]*|org\.gradle[^"'\n]*)["']/,
  },
  {
    rule: 'descriptors',
    explanation: 'writes to descriptors or takes over the output',
    language: 'java',
    pattern:
      /\bSystem\s*\.\s*set(?:Out|Err|In)\b|\bFileDescriptor\b|["'][^"'\n]*(?:surefire-reports|test-results|TEST-)/,
  },
  {
    rule: 'dynamic-code',
    explanation: 'starts programs, or loads code by name',
    language: 'java',
    pattern:
      /\bProcessBuilder\b|\.\s*exec\s*\(|\bScriptEngine\w*|\bClass\s*\.\s*forName\b|\bClassLoader\b|\bServiceLoader\b|\bjavax\s*\.\s*tools\b|\bGroovyShell\b|\bMethodHandles?\b/,
  },
];
