import { HoldfastError } from "../../message/errors.ts"

/** Why a port could not be opened, as a Problem; anything else is what it was. */
export function listenProblem(error: unknown, port: number, host: string): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  const option = (name: string, expected: string, found: string): HoldfastError =>
    new HoldfastError({ code: "option-invalid", option: name, expected, found }, { cause: error })
  if (code === "EADDRINUSE") return option("port", "a port that is free", `${port}, which is in use`)
  if (code === "EACCES") return option("port", "a port that may be opened", `${port}, which may not`)
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return option("host", "an address of this machine", JSON.stringify(host.slice(0, 80)))
  return error
}
