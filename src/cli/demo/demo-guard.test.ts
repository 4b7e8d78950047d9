import { describe, expect, test } from "vitest"
import { deskTools } from "./order-desk.ts"
import { demoGuard } from "./play-demo.ts"

const guard = demoGuard()
const mail = (to: unknown) =>
  guard.judge({ tool: deskTools.sendEmail, input: { to, subject: "s", body: "b" } }).decision

describe("the demo's own tools", () => {
  test.each<[string, unknown, "allow" | "deny"]>([
    ["an address at example.com", "roastery@example.com", "allow"],
    ["an address elsewhere", "claims@kestrel-parcel.example.net", "deny"],
    ["a domain that only begins like it", "a@example.com.evil.net", "deny"],
    ["a domain that only ends like it", "a@notexample.com", "deny"],
    ["one inside and one outside", "a@example.com, b@evil.net", "deny"],
    ["a list with one outside", ["a@example.com", "b@evil.net"], "deny"],
    ["someone without an address", "the carrier", "deny"],
  ])("%s: %j is %s", (_why, to, decision) => {
    expect(mail(to)).toBe(decision)
  })

  test("reading and noting are let through", () => {
    for (const tool of [deskTools.listOrders, deskTools.readFile, deskTools.checkStock, deskTools.addNote])
      expect(guard.judge({ tool, input: { path: "logs/import-01.log", text: "gate 4" } }).decision).toBe("allow")
  })
})

test("the tools of anyone else are none of its business", () => {
  for (const tool of ["send_email", "tern_send_email2"])
    expect(guard.judge({ tool, input: { to: "b@evil.net" } })).toMatchObject({ decision: "allow", reasons: [] })
})
