import type { Hono } from "hono"
import { addRoute } from "./add-route.ts"
import type { AdminDeps } from "./admin-deps.ts"
import { readNumber, readText } from "./read-query.ts"
import { refusals, refuse } from "./refusal.ts"
import { tellExchange, tellExchangeLine } from "./tell-exchange.ts"
import { tellUpstream } from "./tell-upstream.ts"

const tracePage = { usual: 50, most: 1000 } as const

/** What went through the gateway, and where to. */
export function addBookRoutes(app: Hono, { books, upstreams }: Pick<AdminDeps, "books" | "upstreams">): void {
  addRoute(app, "GET", "/admin/traces", (c) => {
    const limit = readNumber(c, "limit", tracePage.usual, { least: 1, most: tracePage.most })
    return c.json({ traces: books.newest(limit, readText(c, "session")).map(tellExchangeLine) })
  })
  addRoute(app, "GET", "/admin/traces/:id", (c) => {
    const record = books.find(c.req.param("id") ?? "")
    return record === undefined ? refuse(refusals.trace) : c.json({ trace: tellExchange(record) })
  })
  addRoute(app, "GET", "/admin/upstreams", (c) => c.json({ upstreams: upstreams.map(tellUpstream) }))
}
