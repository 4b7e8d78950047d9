import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { type Check, fail, ok } from "./doctor-check.ts"

type Optional = { readonly name: string; readonly purpose: string; readonly isNeeded: boolean }

/** What the configuration asks for beyond the program itself. */
export type Needs = { readonly postgres: boolean; readonly telemetry: boolean }

const openTelemetry = [
  "api",
  "exporter-metrics-otlp-http",
  "exporter-trace-otlp-http",
  "resources",
  "sdk-metrics",
  "sdk-trace",
].map((name) => `@opentelemetry/${name}`)

/** Packages that are loaded only where something needs them: a missing one is a fault only then. */
export function checkPackages(
  { postgres, telemetry }: Needs,
  isInstalled: (name: string) => boolean = isFound,
): readonly Check[] {
  const all: readonly Optional[] = [
    { name: "pg", purpose: "a store in PostgreSQL", isNeeded: postgres },
    { name: "@cedar-policy/cedar-wasm", purpose: "policies that judge tool calls", isNeeded: false },
    { name: "@modelcontextprotocol/sdk", purpose: "holdfast mcp", isNeeded: false },
    ...openTelemetry.map((name) => ({ name, purpose: "telemetry", isNeeded: telemetry })),
  ]
  const missing = all.filter(({ name }) => !isInstalled(name))
  const needed = missing.filter(({ isNeeded }) => isNeeded)
  if (needed.length > 0)
    return needed.map(({ name, purpose }) =>
      fail(`package ${name}`, `not installed, and needed for ${purpose}`, `npm install ${name}`),
    )
  if (missing.length === 0) return [ok("packages", "all optional ones are installed")]
  const words = missing.map(({ name, purpose }) => `${name} (${purpose})`).join(", ")
  return [ok("packages", `not installed and not needed now: ${words}`)]
}

function isFound(name: string): boolean {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  return folders.some((folder) => existsSync(join(folder, name, "package.json")))
}
