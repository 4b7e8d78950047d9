import type { Context, Hono } from "hono"
import { refuseMethod } from "./refusal.ts"

type Answer = (c: Context) => Response | Promise<Response>

/** Answer one method at a path, and refuse the others. HEAD would be answered as GET and leave a stream behind that nobody reads. */
export function addRoute(app: Hono, method: "GET" | "POST", path: string, answer: Answer): void {
  app.on(method, path, (c) => (c.req.method === method ? answer(c) : refuseMethod(method)))
  app.all(path, () => refuseMethod(method))
}
