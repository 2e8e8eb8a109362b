import type { Language } from './added-code.ts';
import { anyOf } from './any-of.ts';
import { COMPILED_FLAG_RULES } from './compiled-flag-rules.ts';

/**
 * Things that honest fixes rarely do and cheats often. Patterns see added code of consecutive lines
 * together (`\s` may be a line break), whole-line comments left out.
 */
export interface FlagRule {
  readonly rule: string;
  readonly explanation: string;
  readonly language: Language | 'all';
  readonly pattern: RegExp;
}

/** `import NAME`, `from NAME import …`, `import a, NAME`. */
const imports = (names: string): RegExp =>
  new RegExp(`\\b(?:import|from)\\s+(?:[\\w.]+\\s*,\\s*)*(?:${names})\\b`);

/** `from MODULE import NAME`, also in brackets over several lines. */
const importsFrom = (module: string, names: string): RegExp =>
  new RegExp(
    `\\bfrom\\s+${module}\\s+import\\s+(?:\\([^)]{0,400}?|[^\\n]{0,400}?)\\b(?:${names})\\b`,
  );

/** A module's name in quotes, with or without `node:`. */
const quoted = (names: string): RegExp => new RegExp(`['"\`](?:node:)?(?:${names})['"\`]`);

const PROCESS_NAMES = 'exit|reallyExit|abort|kill|exitCode|ppid|argv|execArgv|binding|dlopen';

export const FLAG_RULES: readonly FlagRule[] = [
  {
    rule: 'runner-internals',
    explanation: 'reaches into the test runner',
    language: 'python',
    pattern: anyOf(
      /\b_pytest\b|\bpytest_\w+\s*\(|\bpluggy\b|\bhookimpl\b|\bpytest\d*_impl\b/,
      /['"](?:_?pytest|pluggy|unittest)/,
      imports('pytest|unittest|mock|nose|hypothesis|doctest'),
      /\bunittest\s*\./,
    ),
  },
  {
    rule: 'runner-internals',
    explanation: 'reaches into the test runner or the module loader',
    language: 'javascript',
    pattern: anyOf(
      quoted(
        'test(?:/reporters)?|module|v8|vm|inspector(?:/promises)?|repl|async_hooks|diagnostics_channel|trace_events|cluster',
      ),
      // Runners of the ecosystem, and what they leave in the global scope.
      quoted('(?:mocha|vitest|jest|tape|tap|ava|@tapjs|@vitest|@jest)(?:/[^\'"`\\s]*)?'),
      /__vitest_\w+|__VITEST|JEST_STATE|JEST_MATCHERS|__jest\w*/,
      // Hooks and tests registered by the code under test: tests of the file that loads it.
      /(?<![\w.]|function )(?:beforeEach|afterEach|beforeAll|afterAll|describe)\s*\(/,
      /(?<![\w.]|function )(?:before|after|it|test|specify|suite)\s*\(\s*(?:async\b|function\b|\(\s*(?:\w+\s*)?\)\s*=>|['"`][^'"`\n]*['"`]\s*,)/,
      /\bglobal(?:This)?\s*\??\.\s*(?:before|after|beforeEach|afterEach|beforeAll|afterAll|it|test|describe|specify|suite|expect|jest|vi)\b/,
      // Lines of the Test Anything Protocol, of which tap makes results.
      /['"`](?:\s|\\n)*(?:(?:not )?ok \d|# Subtest|TAP version)/,
      /\bModule\s*\.\s*(?:_load|_resolveFilename|_extensions|prototype|register|wrap)/,
      /\bmodule\s*\.\s*(?:parent|children|constructor|paths|_\w+)/,
      /\brequire\s*\.\s*(?:cache|extensions|main\b(?!\s*===?\s*module))/,
      /process\s*\.\s*(?:binding|_\w+|mainModule|getBuiltinModule|dlopen|moduleLoadList)/,
      /syncBuiltinESMExports|registerHooks|createRequire|\bDefaultSerializer\b/,
    ),
  },
  {
    rule: 'assertion-library',
    explanation: 'uses or changes the assertion library in the code under test',
    language: 'javascript',
    pattern: anyOf(
      quoted(
        'assert(?:/strict)?|chai|expect(?:\\.js)?|should|power-assert|sinon|uvu(?:/assert)?|@jest/\\w+',
      ),
      /\bassert\s*(?:\.\s*\w+|\[[^\]]+\])\s*=[^=]|AssertionError|isDeepStrictEqual|\bObject\s*\.\s*is\s*=[^=]/,
    ),
  },
  {
    rule: 'assertion-library',
    explanation: 'changes how assertions fail',
    language: 'python',
    pattern: anyOf(
      /AssertionError|\bassertion\b.*rewrite|@pytest_|__tracebackhide__/,
      imports('(?:numpy|pandas)\\.testing|hamcrest|assertpy|sure|testfixtures'),
      /\b(?:np|numpy|pd|pandas)\s*\.\s*testing\b/,
    ),
  },
  {
    rule: 'exit',
    explanation: 'ends the process or hooks into its end',
    language: 'javascript',
    pattern: anyOf(
      /process\s*(?:\?\.|\.)\s*(?:exit|reallyExit|abort|kill|exitCode)\b/,
      /process\s*\[/,
      /process\s*\.\s*(?:on|once|addListener|prependListener|prependOnceListener|emit\w*)\s*\(\s*(?!['"`](?:warning|message)['"`])/,
      new RegExp(
        `\\{[^}]{0,300}\\b(?:${PROCESS_NAMES})\\b[^}]{0,300}\\}\\s*(?:=|from)\\s*(?:require\\s*\\(\\s*)?(?:(?:global\\w*\\.)?process\\b|['"\`](?:node:)?process)`,
      ),
      /=\s*(?:global\w*\s*\.\s*)?process\s*(?:[;,)]|$)/,
    ),
  },
  {
    rule: 'exit',
    explanation: 'ends the process or hooks into its end',
    language: 'python',
    pattern: anyOf(
      /\bos\s*\.\s*(?:_exit|kill|killpg|abort|fork\w*|exec[lv]\w*|posix_spawn\w*)\b/,
      /\bsys\s*\.\s*(?:exit|excepthook|unraisablehook)\b/,
      /\batexit\b|\bSystemExit\b|\bKeyboardInterrupt\b|\bsignal\s*\.\s*\w+\(|(?<![\w.])(?:quit|exit)\s*\(/,
      importsFrom('os', '_exit|kill|killpg|abort|fork|exec[lv]\\w*'),
      importsFrom('sys', 'exit|excepthook|unraisablehook'),
      importsFrom('signal', '\\w+'),
    ),
  },
  {
    rule: 'comparison',
    explanation: 'redefines how values compare',
    language: 'python',
    pattern: anyOf(
      /\b__(?:eq|ne|lt|le|gt|ge|bool|len|hash|contains|instancecheck|subclasscheck|class|getattribute|missing)__\b/,
      // Equal to everything.
      /\bANY\b/,
      /\btype\s*\(\s*['"][^'"]*['"]\s*,/,
    ),
  },
  {
    rule: 'comparison',
    explanation: 'redefines how values compare or convert',
    language: 'javascript',
    pattern:
      /Symbol\s*(?:\.\s*(?:toPrimitive|hasInstance|toStringTag)|\[)|\bvalueOf\b|\bnew\s+Proxy\b|\bReflect\s*\.\s*\w+/,
  },
  {
    rule: 'builtins',
    explanation: 'changes the methods of a class from outside of it',
    language: 'javascript',
    pattern: anyOf(
      /\.\s*prototype\s*(?:\.\s*\w+|\[[^\]]+\])\s*=[^=]|=\s*[\w.]+\.prototype\b/,
      /\bObject\s*\.\s*(?:assign|definePropert\w+)\s*\(\s*(?:[\w.]+\.prototype|require\b|process\b|console\b|global\w*|\w*(?:assert|expect|lib|test)\w*)\s*[,(]/i,
    ),
  },
  {
    rule: 'builtins',
    explanation: 'changes what belongs to the language',
    language: 'javascript',
    pattern: anyOf(
      /\b(?:Object|Array|String|Number|Boolean|Function|Promise|Error|Map|Set|RegExp|Date|Symbol)\s*\.\s*prototype\b/,
      /\b__proto__\b|__(?:define|lookup)[GS]etter__|setPrototypeOf|getPrototypeOf/,
      /\bglobal(?:This)?\s*(?:\.\s*\w+|\[[^\]]+\])\s*=[^=]|\bglobal(?:This)?\s*\[/,
      /\b(?:Math|JSON|Date|Number|Object|Array|Promise|Error|console|performance)\s*\.\s*\w+\s*=[^=]/,
      /prepareStackTrace|captureStackTrace/,
    ),
  },
  {
    rule: 'builtins',
    explanation: 'changes what belongs to the language or to other modules',
    language: 'python',
    pattern: anyOf(
      /\bbuiltins\b|__builtins__|__import__|\b(?:set|del)attr\s*\(|\bglobals\s*\(|__(?:dict|globals|code|closure|subclasses|setattr|loader|spec)__/,
      /\bsys\s*\.\s*(?:modules|settrace|setprofile|meta_path|path_hooks|path|__\w+__)\b/,
      importsFrom('sys', 'modules|settrace|setprofile|meta_path|path_hooks|path'),
      /\bimport\s+(?:sys|os|builtins)\s+as\b|\bgetattr\s*\(\s*(?:sys|os|builtins)\b/,
      imports('builtins|gc|ctypes|importlib|imp|runpy|pkgutil|zipimport|codeop'),
      /\bimportlib\b|\bgc\s*\.|\bctypes\b/,
      // Another module's or class's function replaced.
      /^\s*(?!self\b|cls\b)[A-Za-z_]\w*(?:\.\w+)+\s*=\s*(?:lambda\b|functools\b|partial\b)/,
      /^\s*(?:time|random|datetime|math|json|os)\.\w+\s*=[^=]/,
    ),
  },
  {
    rule: 'test-detection',
    explanation: 'asks whether it is being tested, or by whom it is called',
    language: 'python',
    pattern: anyOf(
      /PYTEST_\w+|\bsys\s*\.\s*(?:argv|_getframe|_current_frames|orig_argv)\b|__main__\.__file__|\bimport\s+__main__/,
      importsFrom('sys', 'argv|_getframe|_current_frames|orig_argv'),
      /\binspect\s*\.\s*\w+|\btraceback\s*\.\s*\w+|\bcurrentframe\b/,
      imports('inspect|traceback'),
      /__traceback__|\b(?:f_back|f_code|f_locals|f_globals|f_builtins|tb_frame|tb_next|gi_frame|cr_frame|ag_frame|co_consts|co_names|co_code)\b/,
      /\benviron\s*\.\s*(?:items|values|keys|copy)\b|\bin\s+(?:os\s*\.\s*)?environ\s*(?::|\]|\)|$)|(?:dict|list|str|repr|sorted)\s*\(\s*(?:os\s*\.\s*)?environ\b/,
    ),
  },
  {
    rule: 'test-detection',
    explanation: 'asks whether it is being tested, or by whom it is called',
    language: 'javascript',
    pattern: anyOf(
      /NODE_TEST_CONTEXT|NODE_V8_COVERAGE|process\s*\.\s*(?:argv|execArgv)|\bNODE_ENV\b.*\btest\b/,
      /\.\s*stack\b|\[\s*['"`]stack['"`]\s*\]|\{[^{}]{0,300}\bstack\b[^{}]{0,300}\}\s*=(?!=)/,
      /\.\s*caller\b|\barguments\s*\.\s*callee\b/,
      /Object\s*\.\s*(?:keys|entries|values)\s*\(\s*process\s*\.\s*env\s*\)|\bin\s+process\s*\.\s*env\s*\)/,
    ),
  },
  {
    rule: 'test-files',
    explanation: 'names files of tests in the code under test',
    language: 'all',
    pattern:
      /['"`][^'"`\n]*(?:(?<![\w-])(?:__tests__|tests?|specs?)[/\\]|\.(?:test|spec)\.|\btest_\w*\.py|_test\.py|conftest)[^'"`\n]*['"`]|['"`](?:__tests__|tests?)['"`]\s*[,)/]/,
  },
  {
    rule: 'descriptors',
    explanation: 'writes to descriptors or reads process tables',
    language: 'all',
    pattern: anyOf(
      /\/proc\b|\/dev\/fd|\/dev\/std|['"`]\/?(?:proc|fd)\/?['"`]/,
      /\bos\s*\.\s*(?:write|writev|dup2?|fdopen|closerange|getppid|pipe2?|read)\s*\(/,
      importsFrom('os', 'write|writev|dup2?|fdopen|closerange|getppid|pipe2?'),
      /\bclosefd\b|\bfileno\s*\(|\bfcntl\b|\bbuffering\s*=\s*0|(?<![\w.])open\s*\(\s*(?:\d|fd\b)/,
      /\bwriteSync\b|\bwritevSync\b|\bopenSync\b|process\s*\.\s*(?:ppid|stdout\s*\.\s*write\s*=|send\b)/,
      /\bstd(?:out|err)\s*\.\s*(?:_\w+|fd\b|pipe\b|emit\b|on\b|once\b|write\s*\(\s*(?:Buffer|new\s+Uint8Array)|write\s*\([^)]{0,300}['"`](?:latin1|binary|hex|base64)['"`])/,
      /0xff\s*,\s*0x0f|xff\\x0f/i,
    ),
  },
  {
    rule: 'dynamic-code',
    explanation: 'runs code from text, or code whose name is put together while it runs',
    language: 'python',
    pattern: anyOf(
      /(?<![\w.])(?:eval|exec|compile)\s*\(|\bsubprocess\b|\bos\s*\.\s*(?:system|popen)\b/,
      imports('pickle|marshal|dill|cloudpickle|shelve|multiprocessing'),
      // An encoding in which the text of the file is not what it seems.
      /^\s*#.*coding[:=](?!\s*(?:utf-?8|ascii|us-ascii|latin|iso-?8859|cp125))/i,
    ),
  },
  {
    rule: 'dynamic-code',
    explanation: 'runs code from text, or code whose name is put together while it runs',
    language: 'javascript',
    pattern: anyOf(
      /(?<![\w.])eval\s*\(|\b(?:new\s+)?Function\s*\(\s*['"`]|\bnew\s+Function\b|child_process|\bvm\s*\.\s*run\w+/,
      /\bconstructor\s*(?:\.\s*constructor|\(\s*['"`])/,
      // A name that is not one plain text.
      /(?<![\w.])(?:require|import)\s*\(\s*(?!(?:'[^'\n]*'|"[^"\n]*"|`[^`$\n]*`)\s*[,)])/,
      /[=(,:]\s*require\s*(?:[;,)]|$)/,
      // Code out of a file that is not named as code.
      /(?:\brequire\s*\(|\bimport\s*\(|\bfrom|\bimport)\s*['"`]\.[^'"`\n]*\.(?:md|txt|ya?ml|toml|csv|html?|svg|xml|log|dat|bin|png|jpe?g|gif|ico|lock|map|bak|tmp|conf|ini)['"`]/i,
    ),
  },
  ...COMPILED_FLAG_RULES,
];
