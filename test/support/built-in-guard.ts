import type { Guard } from "../../src/guard/guard.ts"
import { createSelfProtection } from "../../src/guard/self/self-protection.ts"

/** Returns the policy that every `holdfast serve` has, for a gateway in this process whose data is at `place`. */
export const builtInGuard = (place: string): Guard =>
  createSelfProtection({
    folder: process.cwd(),
    home: process.env.HOME ?? process.cwd(),
    pid: process.pid,
    commandLine: process.argv.join(" "),
    names: ["node", "holdfast"],
    port: () => undefined,
    hosts: ["127.0.0.1"],
    files: [{ path: place, what: "its data" }],
    namesBelow: () => [],
    secrets: [],
    secretNames: [],
    isSecretSet: false,
  })
