import { buildIfChanged } from "../../scripts/source-hash.ts"

/** Before any test: many of them run the package and its program as built. */
export function setup(): void {
  const status = buildIfChanged()
  if (status !== 0) throw new Error(`the build ended with ${status}`)
}
