import { buildIfChanged } from "../../scripts/source-hash.ts"

/** Builds before any test: many of them run the built package and its program. */
export function setup(): void {
  const status = buildIfChanged()
  if (status !== 0) throw new Error(`the build ended with ${status}`)
}
