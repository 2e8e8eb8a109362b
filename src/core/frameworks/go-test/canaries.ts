import type { PlantCanaries } from '../framework.ts';

/**
 * Go binds calls when it compiles, so that little can be patched at run time; what can lie is the
 * process (its output, its exit). The planted tests fail in each way in which tests fail without
 * ending the process. They need the file's own import of `testing`.
 */
export const plantGoCanaries: PlantCanaries = (file, source, nonce) => {
  if (!/^import[ \t]+"testing"|^[ \t]+"testing"[ \t]*(?:\/\/.*)?$/m.test(source)) return undefined;
  const name = (letter: string): string => `TestPrime_${nonce}_${letter}`;
  const code = `

func ${name('a')}(t *testing.T) {
	passed := func() (passed bool) {
		defer func() { _ = recover() }()
		var none map[string]int
		none["planted"] = 1
		return true
	}()
	if passed || 1 == 2 || len("ab") != 2 || t.Failed() {
		t.Fatal("the language was changed")
	}
}

func ${name('b')}(t *testing.T) { t.Error("planted") }

func ${name('c')}(t *testing.T) { t.Fatalf("planted %d", 1) }

func ${name('d')}(t *testing.T) {
	t.Run("inner", func(t *testing.T) { t.FailNow() })
}

func ${name('e')}(t *testing.T) { t.Fail() }
`;
  const id = (test: string): string => `${file}::${test}`;
  return {
    source: source + code,
    mustPass: [id(name('a'))],
    mustFail: [...['b', 'c', 'd', 'e'].map((letter) => id(name(letter))), `${id(name('d'))}/inner`],
  };
};
