import type { Context, Hono } from "hono"
import { refuseMethod } from "./refusal.ts"

type Answer = (c: Context) => Response | Promise<Response>

/** Serve one method at a path, and refuse the others. HEAD must not be served as GET: it would leave an unread stream behind. */
export function addRoute(app: Hono, method: "GET" | "POST", path: string, answer: Answer): void {
  app.on(method, path, (c) => (c.req.method === method ? answer(c) : refuseMethod(method)))
  app.all(path, () => refuseMethod(method))
}
