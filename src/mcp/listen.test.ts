import { request as openRequest } from "node:http"
import { expect, test } from "vitest"
import { listenHttp } from "./http.ts"

const options = { port: 0, host: "127.0.0.1" }

test("who answers is told when the client has gone", async () => {
  const asked = Promise.withResolvers<void>()
  const told = Promise.withResolvers<Response>()
  const handle = ({ signal }: Request): Promise<Response> => {
    signal.addEventListener("abort", () => told.resolve(new Response()))
    asked.resolve()
    return told.promise
  }
  const faults: unknown[] = []
  const { port, close } = await listenHttp(handle, { ...options, onFault: (error) => void faults.push(error) })
  const left = openRequest({ host: "127.0.0.1", port }).on("error", () => {})
  left.end()
  await asked.promise
  left.destroy()
  await told.promise
  await close()
  expect(faults).toEqual([])
})

test("a handler that throws costs its own request alone, and is told", async () => {
  const faults: unknown[] = []
  const handle = async ({ url }: Request): Promise<Response> => {
    if (url.endsWith("/bad")) throw new Error("oh")
    return new Response("fine")
  }
  const { port, close } = await listenHttp(handle, { ...options, onFault: (error) => void faults.push(error) })
  const bad = await fetch(`http://127.0.0.1:${port}/bad`)
  expect({ status: bad.status, text: await bad.text() }).toEqual({ status: 500, text: "" })
  expect(await (await fetch(`http://127.0.0.1:${port}/good`)).text()).toBe("fine")
  expect(faults).toEqual([new Error("oh")])
  await close()
})
