import { arch, cpus } from "node:os"

/** Where and when a bench ran, without which its figures mean nothing. */
export const conditionsNow = (): Readonly<Record<string, string | number>> => ({
  node: process.version,
  cores: cpus().length,
  cpu: cpus()[0]?.model ?? "",
  arch: arch(),
  date: new Date().toISOString().slice(0, 10),
})
