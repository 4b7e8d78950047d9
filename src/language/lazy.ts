/** A value that is made when it is first asked for, so that importing the package does not pay for what a program may never use. */
export function lazy<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** What a pattern is asked for. */
export type LazyPattern = Pick<RegExp, "test" | "exec" | "source">

/** A regular expression that is made at its first use: one with a list of words between classes of Unicode takes up to three milliseconds. */
export function lazyPattern(source: string, flags = ""): LazyPattern {
  const pattern = lazy(() => new RegExp(source, flags))
  return { source, test: (text) => pattern().test(text), exec: (text) => pattern().exec(text) }
}
