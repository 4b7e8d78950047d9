import { createRequire } from "node:module"
import { HoldfastError } from "../../message/errors.ts"

/** The policy engine, as far as the guard uses it. */
export type Cedar = typeof import("@cedar-policy/cedar-wasm/nodejs")

const isCedar = (module: unknown): module is Cedar =>
  typeof module === "object" && module !== null && "statefulIsAuthorized" in module

let loaded: Cedar | undefined

/** Load the engine at first use, and at once: who has no policies need not have it, and who has them need not wait. */
export function loadCedar(): Cedar {
  loaded ??= requireCedar()
  return loaded
}

function requireCedar(): Cedar {
  try {
    const module: unknown = createRequire(import.meta.url)("@cedar-policy/cedar-wasm/nodejs")
    if (isCedar(module)) return module
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND")) throw error
    throw missing(error)
  }
  throw missing()
}

const missing = (cause?: Error): HoldfastError =>
  new HoldfastError(
    { code: "package-missing", package: "@cedar-policy/cedar-wasm", purpose: "the guard's policies" },
    cause === undefined ? {} : { cause },
  )
