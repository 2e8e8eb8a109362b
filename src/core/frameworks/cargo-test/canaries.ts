import type { PlantCanaries } from '../framework.ts';

/**
 * A module of tests at the end of the file: it runs in the same program as the file's own tests.
 * Rust binds calls when it compiles; what can lie is the process (its output, its exit, its hooks).
 */
export const plantCargoCanaries: PlantCanaries = (file, source, nonce) => {
  const module = `prime_${nonce}`;
  const code = `

#[cfg(test)]
mod ${module} {
    #[test]
    fn a() {
        let caught = |work: fn()| ::std::panic::catch_unwind(work).is_err();
        if !caught(|| ::core::assert_eq!(1, 2))
            || !caught(|| ::core::assert_ne!(1, 1))
            || !caught(|| ::core::assert!("a" == "b"))
        {
            ::std::process::abort();
        }
    }

    #[test]
    fn b() {
        ::core::panic!("planted");
    }

    #[test]
    fn c() {
        ::core::assert_eq!(::std::vec![1, 2], ::std::vec![1, 3]);
    }

    #[test]
    fn d() -> ::core::result::Result<(), ::std::string::String> {
        ::core::result::Result::Err("planted".into())
    }

    #[test]
    #[should_panic]
    fn e() {}
}
`;
  const id = (test: string): string => `${file}::${module}::${test}`;
  return {
    source: source + code,
    mustPass: [id('a')],
    mustFail: ['b', 'c', 'd', 'e'].map(id),
  };
};
