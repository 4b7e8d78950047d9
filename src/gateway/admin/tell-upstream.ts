import { present } from "../../message/present.ts"
import type { Upstream } from "../upstream.ts"

/** An upstream without anything that could let someone in: no key, no header, and of its address the host alone. */
export function tellUpstream({ name, families, models, baseUrl, apiKey }: Upstream): Readonly<Record<string, unknown>> {
  const host = URL.parse(baseUrl)?.host
  return { name, families, key: apiKey === undefined ? "client's" : "own", ...present({ models, host }) }
}
