import { expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { ownHeaders, relayedHeaders } from "./headers.ts"

test("the upstream's response headers are relayed unchanged, including cookies", () => {
  const raw = [
    "Content-Type",
    "text/event-stream",
    "Set-Cookie",
    "a=1",
    "set-cookie",
    "b=2",
    "request-id",
    "r",
    "Retry-After",
    "1",
  ]
  expect(relayedHeaders(raw, { keepLength: false })).toEqual(raw)
  expect(
    relayedHeaders(
      raw.map((text) => Buffer.from(text)),
      { keepLength: false },
    ),
  ).toEqual(raw)
})

test.each([
  "Connection",
  "Keep-Alive",
  "Transfer-Encoding",
  "Trailer",
  "Upgrade",
  "Alt-Svc",
  "X-Holdfast-Trace",
  "Proxy-X",
])("%s is not relayed", (name) => {
  expect(relayedHeaders([name, "x", "date", "d"], { keepLength: true })).toEqual(["date", "d"])
})

test("the content length is kept only if the body is unchanged", () => {
  const raw = ["Content-Length", "5", "Connection", "close, x-a", "x-a", "1"]
  expect(relayedHeaders(raw, { keepLength: true })).toEqual(["Content-Length", "5"])
  expect(relayedHeaders(raw, { keepLength: false })).toEqual([])
})

test("non-ASCII bytes stay the same, and an invalid line is left out", () => {
  const bytes = Buffer.from("größe", "utf8")
  expect(relayedHeaders([Buffer.from("x-a"), bytes], { keepLength: false })).toEqual(["x-a", bytes.toString("latin1")])
  expect(relayedHeaders(["x-a", "日"], { keepLength: false })).toEqual(["x-a", Buffer.from("日").toString("latin1")])
  expect(relayedHeaders(["x-a", "1\r\nx: 2", "no name", "1", "", "1", "odd"], { keepLength: false })).toEqual([])
})

const receipt = {
  session: "s",
  entry: "e50",
  checkpoint: "e41",
  contextTokens: 12345,
  stackTokens: 7,
  windowTokens: 200000,
  stableTokens: 12000,
  changed: false,
  durable: true,
}

test("a receipt is one line of the known values", () => {
  expect(ownHeaders({ session: "s", trace: "t1", receipt })).toEqual([
    ...["x-holdfast-session", "s", "x-holdfast-trace", "t1", "x-holdfast-receipt"],
    "changed=0; context=12345; window=200000; stable=12000; checkpoint=e41; durable=1",
  ])
  expect(ownHeaders({ trace: "t1", changed: true })).toEqual([
    "x-holdfast-trace",
    "t1",
    "x-holdfast-receipt",
    "changed=1",
  ])
  expect(ownHeaders({ receipt: { contextTokens: 1, rereads: 2 } })).toEqual([
    "x-holdfast-receipt",
    "context=1; rereads=2",
  ])
  expect(ownHeaders({ receipt: { contextTokens: 1 } })).toEqual(["x-holdfast-receipt", "context=1"])
  expect(ownHeaders({ trace: "t1" })).toEqual(["x-holdfast-trace", "t1"])
})

test("for any names, our headers are printable ASCII", () => {
  const text = fc.string({ unit: codePoints })
  fc.assert(
    fc.property(text, text, text, (session, trace, checkpoint) => {
      for (const piece of ownHeaders({ session, trace, receipt: { ...receipt, checkpoint } })) {
        expect(piece).toMatch(/^[\x20-\x7e]+$/)
      }
    }),
  )
  expect(ownHeaders({ session: "a\r\nb; ü\ud800" })).toEqual(["x-holdfast-session", "a%0D%0Ab; %C3%BC%EF%BF%BD"])
})
