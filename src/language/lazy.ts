/** Returns a function that computes a value on first use, so that importing the package costs nothing for what a program may never use. */
export function lazy<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** The part of `RegExp` that a lazy pattern offers. */
export type LazyPattern = Pick<RegExp, "test" | "exec" | "source">

/** A regular expression that is compiled on first use: one with a list of words between Unicode classes takes up to three milliseconds. */
export function lazyPattern(source: string, flags = ""): LazyPattern {
  const pattern = lazy(() => new RegExp(source, flags))
  return { source, test: (text) => pattern().test(text), exec: (text) => pattern().exec(text) }
}
