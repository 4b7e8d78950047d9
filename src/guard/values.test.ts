import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { factsOf } from "./facts/facts.ts"
import { runsIn, signSet } from "./facts/words.ts"

const most = (input: unknown): number =>
  Math.max(0, ...factsOf({ tool: "purchase", input }).amounts.map(({ minor }) => minor))

const sums: readonly (readonly [input: unknown, minor: number])[] = [
  [{ amount: 12 }, 1_200],
  [{ amount: 12.5 }, 1_250],
  [{ amount: -12 }, 1_200],
  [{ amount: "1,500.00" }, 150_000],
  [{ amount: "1.500,00" }, 150_000],
  [{ amount: "1 500" }, 150_000],
  [{ amount: "1'500" }, 150_000],
  [{ amount: "1_500" }, 150_000],
  [{ amount: "1,500" }, 150_000],
  [{ amount: "1.500" }, 150_000],
  [{ amount: "12,50" }, 1_250],
  [{ amount: "1e3" }, 100_000],
  [{ amount: "$1k" }, 100_000],
  [{ amount: "2.5k" }, 250_000],
  [{ amount: "１５０" }, 15_000],
  [{ amount: "١٥٠" }, 15_000],
  [{ amount: "1\u200b50" }, 15_000],
  [{ amount: "one hundred and fifty dollars" }, 15_000],
  [{ item: "a chair for two thousand five hundred dollars" }, 250_000],
  [{ note: "costs US$ 99.90 each" }, 9_990],
  [{ note: "€ 20" }, 2_000],
  [{ note: "20 €" }, 2_000],
  [{ note: "USD 3 million" }, 300_000_000],
  [{ amount_cents: 9_900 }, 9_900],
  [{ price_usd: 30 }, 3_000],
  [{ price: 60, quantity: 2 }, 12_000],
  [{ unitPrice: "$60", qty: "3" }, 18_000],
  [{ items: [{ price: 60 }, { price: 70 }] }, 13_000],
  [{ items: [{ price: 60, quantity: 2 }, { price: 10 }] }, 13_000],
  [{ order: '{"amount": 500}' }, 50_000],
  [{ amount: btoa("amount: $900.00") }, 90_000],
  [{ amount: 1e300 }, Number.MAX_SAFE_INTEGER],
  [{ item: "pens" }, 0],
]

describe("sums of money", () => {
  test.each(sums)("%j", (input, minor) => {
    expect(most(input)).toBe(minor)
  })
  test("the currency is taken from a sign, a code, a field", () => {
    const currencies = (input: unknown): readonly unknown[] =>
      factsOf({ tool: "purchase", input }).amounts.map(({ currency }) => currency)
    expect(currencies({ amount: "€5" })).toContain("EUR")
    expect(currencies({ amount: 5, currency: "gbp" })).toContain("GBP")
    expect(currencies({ note: "five euros" })).toContain("EUR")
  })
})

describe("regions", () => {
  test.each([
    [{ region: "us-west-2" }, ["us-west-2"]],
    [{ region: "US_West_2" }, ["us-west-2"]],
    [{ zone: "us-west-2a" }, ["us-west-2"]],
    [{ sql: "CREATE DATABASE x REGION 'eu-west-1'" }, ["eu-west-1"]],
    [{ region: "europe-west4-b" }, ["europe-west4"]],
    [{ location: "westeurope" }, ["westeurope"]],
    [{ region: "Frankfurt" }, ["eu-central-1"]],
    [{ region: "use1" }, ["us-east-1"]],
    [{ region: "the moon" }, ["the-moon"]],
    [{ region: "\u0435u-west-1" }, ["eu-west-1"]],
    [{ command: "aws ec2 run-instances --region ap-south-1" }, ["ap-south-1"]],
    [{ body: "we left eu-west-1" }, []],
  ])("%j", (input, regions) => {
    expect([...new Set(factsOf({ tool: "deploy", input }).regions)]).toEqual(regions)
  })
})

const personal: readonly (readonly [text: string, kinds: readonly string[]])[] = [
  ["her SSN is 123-45-6789", ["ssn"]],
  ["123 45 6789", ["ssn"]],
  ["123.45.6789", ["ssn"]],
  ["123\u201345\u20136789", ["ssn"]],
  ["1 2 3 - 4 5 - 6 7 8 9", ["ssn"]],
  ["ssn 123456789", ["ssn"]],
  ["123\u200b-45-6789", ["ssn"]],
  ["１２３-４５-６７８９", ["ssn"]],
  [btoa("SSN: 123-45-6789"), ["ssn"]],
  ["order 123456789", []],
  ["000-12-3456", []],
  ["***-**-6789", []],
  ["4111 1111 1111 1111", ["card"]],
  ["4111111111111111", ["card"]],
  ["4111 1111 1111 1112", []],
  ["DE89 3704 0044 0532 0130 00", ["iban"]],
  ["DE89370400440532013000", ["iban"]],
  ["DE00 3704 0044 0532 0130 00", []],
  ["+1 415 555 0134", ["phone"]],
  ["(415) 555-0134", ["phone"]],
  ["jane@acme.example", ["email"]],
  ["passport no. X1234567", ["passport"]],
  ["version 1.2.3 of 2024-05-06", []],
]

describe("personal data", () => {
  test.each(personal)("%s", (body, kinds) => {
    expect([...factsOf({ tool: "send_email", input: { body } }).personal]).toEqual(kinds)
  })
  test("asking for it by name counts as carrying it", () => {
    expect([...factsOf({ tool: "disclose", input: { customer: "Jane", field: "ssn" } }).personal]).toEqual(["ssn"])
    expect([...factsOf({ tool: "disclose", input: { fields: ["name", "date_of_birth"] } }).personal]).toEqual([
      "birth-date",
    ])
  })
})

/** Put together here, so that no text in this file has the shape of a key. */
const keys: readonly (readonly [kind: string, text: string])[] = [
  ["private-key", `-----BEGIN ${"RSA PRIVATE KEY"}-----`],
  ["aws-key", `AK${"IA"}ABCDEFGHIJKLMNOP`],
  ["github-token", `gh${"p_"}${"a1B2".repeat(9)}`],
  ["slack-token", `xo${"xb-"}1234567890-abc`],
  ["model-key", `s${"k-"}${"aB3d".repeat(8)}`],
  ["connection-string", "postgres://app:hunter22@db.example/x"],
  ["password", "password: hunter22!"],
  ["json-web-token", `ey${"J"}hbGciOiJ9.ey${"J"}zdWIiOiIx.c2lnbmF0dXJl`],
]

describe("secrets", () => {
  test.each(keys)("%s", (kind, text) => {
    expect([...factsOf({ tool: "send_email", input: { body: `here: ${text}` } }).secrets]).toContain(kind)
  })
  test.each([
    "the password is required",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "see src/gate/normalize.ts",
    "password: <your password>",
  ])("none in: %s", (body) => {
    expect([...factsOf({ tool: "send_email", input: { body } }).secrets]).toEqual([])
  })
})

const languages: readonly (readonly [text: string, languages: readonly string[]])[] = [
  ["Hello team, the report is attached. Please let me know.", ["en"]],
  ["Hola equipo, el informe está listo para su revisión.", ["es"]],
  ["Bonjour, voici le rapport de la semaine pour votre équipe.", ["fr"]],
  ["Guten Tag, anbei der Bericht für die letzte Woche.", ["de"]],
  ["Olá, segue em anexo o relatório da semana.", ["pt"]],
  ["Ciao a tutti, il rapporto della settimana è pronto.", ["it"]],
  ["Hallo, het rapport van deze week is bijgevoegd.", ["nl"]],
  ["Привет, отчёт готов и приложен к письму", ["ru"]],
  ["こんにちは、レポートを添付します", ["ja"]],
  ["你好，本周的报告已经完成", ["zh"]],
  ["안녕하세요, 보고서를 첨부합니다", ["ko"]],
  ["مرحبا، التقرير جاهز للمراجعة", ["ar"]],
  ["Hello all, the report is ready. El informe está listo para todos ustedes.", ["en", "es"]],
  ["revenue 4.5M, costs 3M", []],
]

describe("languages", () => {
  test.each(languages)("%s", (body, found) => {
    expect([...factsOf({ tool: "send_email", input: { body } }).languages].sort()).toEqual(found)
  })
})

describe("what a call is", () => {
  test.each([
    ["send_email", { to: "a@x.example" }, ["send"]],
    ["read_file", { path: "a" }, ["read"]],
    ["mcp__files__write_file", { path: "a" }, ["write"]],
    ["getOrderDetails", { id: 1 }, ["read"]],
    ["purchase", { item: "x" }, ["purchase"]],
    ["disclose", { content: "x" }, ["disclose"]],
    ["deploy_service", { env: "x" }, ["deploy"]],
    ["http_request", { method: "DELETE", url: "https://x.example" }, ["delete"]],
    ["frobnicate", { a: 1 }, ["other"]],
    ["db_exec", { sql: "SELECT 1" }, ["execute", "query"]],
    ["db_exec", { sql: "DROP TABLE x" }, ["delete", "execute"]],
    ["str_replace_editor", { command: "create", path: "x" }, ["write"]],
  ])("%s %j", (tool, input, actions) => {
    expect([...factsOf({ tool, input }).actions].sort()).toEqual(expect.arrayContaining(actions))
  })
  test.each([
    ["send_email", {}, ["email"]],
    ["post_message", { channel: "slack" }, ["slack"]],
    ["post_message", { channel: "#status", text: "all is well" }, ["chat"]],
    ["send_reply", { room_id: "R12", text: "all is well" }, ["chat"]],
    ["send_email", { to: "a@b.example", channel: "#status" }, ["email"]],
    ["install", { channel: "stable" }, []],
    ["create_ticket", {}, ["ticket"]],
    ["notify", { url: "https://hooks.slack.com/x" }, ["slack"]],
    ["bash", { command: "mail -s x a@x.example" }, ["email"]],
  ])("%s %j reaches people by %j", (tool, input, media) => {
    expect([...factsOf({ tool, input }).media]).toEqual(media)
  })
})

test("runs of signs are those that a pattern finds", () => {
  const signs = signSet(/[\w+/=-]/)
  const sign = fc.constantFrom("a", "Z", "7", "+", "/", "=", "-", " ", ".", "é", "中", "\n")
  const text = fc
    .array(fc.oneof({ weight: 6, arbitrary: fc.constantFrom("a", "Q", "0") }, sign))
    .map((all) => all.join(""))
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 12 }), (given, least) => {
      const pattern = new RegExp(`(?<![\\w+/=-])[\\w+/=-]{${least},}`, "g")
      const found = runsIn(given, signs, least).map(({ start, end }) => given.slice(start, end))
      expect(found).toEqual(given.match(pattern) ?? [])
    }),
  )
})
