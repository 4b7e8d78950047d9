import { HoldfastError } from "../errors.ts"

/** The policy engine, as far as the guard uses it. */
export type Cedar = typeof import("@cedar-policy/cedar-wasm/nodejs")

/** Load the engine at first use: who has no policies need not have it. */
export async function loadCedar(): Promise<Cedar> {
  try {
    return await import("@cedar-policy/cedar-wasm/nodejs")
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error
    throw new HoldfastError(
      { code: "package-missing", package: "@cedar-policy/cedar-wasm", purpose: "the guard's policies" },
      { cause: error },
    )
  }
}
