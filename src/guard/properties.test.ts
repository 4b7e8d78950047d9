import { beforeAll, expect, test } from "vitest"
import { codePoints, fc } from "../../test/support/property.ts"
import { environmentsIn } from "./facts/action.ts"
import { createGuard, type Guard } from "./guard.ts"
import { deniedResult } from "./judge-call.ts"
import { type AttributeValue, compileCondition } from "./policy/condition.ts"
import { loadCedar } from "./policy/engine.ts"
import { type AttributeName, attributeNames, attributes, schemaText } from "./policy/schema.ts"

let guard: Guard
let cedar: ReturnType<typeof loadCedar>

beforeAll(() => {
  cedar = loadCedar()
  guard = createGuard([
    { template: "email-domains", domains: ["acme.example"] },
    { template: "spend-limit", amount: 100 },
    { template: "channel-routing", media: ["slack"] },
    { template: "region-standard", regions: ["us-west-2"] },
    { template: "language-policy", languages: ["en"] },
    { template: "no-production-destruction" },
    { template: "no-secrets" },
    { template: "no-personal-data" },
    { template: "keep-security-controls" },
    { template: "protected-paths", paths: ["/etc"], access: "any" },
  ])
})

type Call = readonly [tool: string, key: string, value: string]

/** Calls that are refused for the sake of one value. */
const refused: readonly Call[] = [
  ["send_email", "to", "eve@evil.example"],
  ["send_email", "subject", "Weekly status report for all of us"],
  ["send_email", "body", "her number is 123-45-6789, as she said"],
  ["send_email", "body", "the card is 4111 1111 1111 1111 and it is valid"],
  ["db_exec", "sql", "DROP TABLE prod.users"],
  ["db_exec", "sql", "SELECT 1; TRUNCATE TABLE production.orders"],
  ["db_exec", "sql", "UPDATE settings SET audit_logging = false"],
  ["read_file", "path", "/home/jane/.ssh/id_rsa"],
  ["read_file", "path", "/etc/hosts"],
  ["bash", "command", "cat /etc/shadow"],
  ["bash", "command", "kubectl delete namespace shop --context production"],
  ["deploy_service", "region", "eu-central-1"],
]

const lookAlikes: Readonly<Record<string, string>> = {
  a: "\u0430",
  e: "\u0435",
  o: "\u043e",
  p: "\u0440",
  c: "\u0441",
  x: "\u0445",
  i: "\u0456",
  s: "\u0455",
}
const wide = (sign: string): string => {
  const code = sign.charCodeAt(0)
  return code > 0x20 && code < 0x7f ? String.fromCharCode(code + 0xfee0) : sign
}

type Change = (text: string, picks: readonly boolean[]) => string

const each =
  (change: (sign: string) => string): Change =>
  (text, picks) =>
    [...text].map((sign, at) => (picks[at % picks.length] === true ? change(sign) : sign)).join("")

/** How a value may be written so that it looks or decodes the same. */
const disguises: Readonly<Record<string, Change>> = {
  capitals: each((sign) => sign.toUpperCase()),
  "no width": each((sign) => `${sign}\u200b`),
  "soft hyphens": each((sign) => `\u00ad${sign}`),
  "look-alikes": each((sign) => lookAlikes[sign] ?? sign),
  "wide forms": each(wide),
  "blanks around": (text) => `  ${text}\n`,
}
const encodings: Readonly<Record<string, Change>> = {
  percent: (text) =>
    [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  entities: each((sign) => `&#x${(sign.codePointAt(0) ?? 0).toString(16)};`),
  base64: (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text))),
  "a JSON text": (text) => JSON.stringify(text),
  "escapes of JSON": (text) =>
    `"${[...text].map((sign) => (sign.length > 1 ? sign : `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`)).join("")}"`,
}
type Wrap = (input: Readonly<Record<string, unknown>>) => unknown
const nestings: readonly Wrap[] = [
  (input) => input,
  (input) => ({ args: input }),
  (input) => ({ input: JSON.stringify(input) }),
  (input) => [input],
  (input) => ({ priority: 1, ...input, zeta: "ok" }),
  (input) => JSON.stringify(input),
]

const picks = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 })
const chosen = <Kind>(table: Readonly<Record<string, Kind>>, most: number) =>
  fc.array(fc.constantFrom(...Object.values(table)), { maxLength: most })

test("no disguise, encoding or nesting turns a refused call into one that is let through", () => {
  const property = fc.property(
    fc.constantFrom(...refused),
    chosen(disguises, 3),
    chosen(encodings, 2),
    fc.constantFrom(...nestings),
    picks,
    ([tool, key, value], dresses, codes, nest, pick) => {
      expect(guard.judge({ tool, input: { [key]: value } }).decision).toBe("deny")
      const written = [...dresses, ...codes].reduce((text, change) => change(text, pick), value)
      const verdict = guard.judge({ tool, input: nest({ [key]: written }) })
      expect([verdict.decision, written]).toEqual(["deny", written])
    },
  )
  fc.assert(property)
})

test("the order of fields does not matter", () => {
  const property = fc.property(
    fc.dictionary(
      fc.constantFrom("to", "body", "path", "sql", "amount", "region", "command", "note"),
      fc.oneof(fc.constantFrom(...refused.map(([, , value]) => value)), fc.string(), fc.integer()),
    ),
    fc.constantFrom("send_email", "db_exec", "bash", "purchase", "x"),
    (input, tool) => {
      const turned = Object.fromEntries(Object.entries(input).reverse())
      const [one, other] = [guard.judge({ tool, input }), guard.judge({ tool, input: turned })]
      expect(other.decision).toBe(one.decision)
      expect(other.reasons).toEqual(one.reasons)
    },
  )
  fc.assert(property)
})

test("whatever the call, a verdict comes, the same one every time, and its answer stays on its lines", () => {
  const property = fc.property(
    fc.string({ unit: codePoints }),
    fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true }),
    (tool, input) => {
      const verdict = guard.judge({ tool, input })
      expect(verdict.errors).toEqual([])
      expect(guard.judge({ tool, input })).toEqual(verdict)
      for (const line of deniedResult(verdict).split("\n"))
        expect(line).toMatch(/^(?:The |Rule: |What it met: |Why: |Instead: )/)
    },
  )
  fc.assert(property)
})

const pieces = [
  ..."abc/.~$`'\"(){}[]<>|&;*?\\=@:%# \n0-",
  "rm -rf ",
  "$(",
  "<<E\n",
  "bash -c ",
  "select ",
  "drop table ",
  "--",
  "/*",
  "http://",
  "eval ",
]

test("whatever is written in a script, a statement, a program or an address, a verdict comes", () => {
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((list) => list.join(""))
  const field = fc.constantFrom<readonly [string, string]>(
    ["bash", "command"],
    ["db_exec", "sql"],
    ["python", "code"],
    ["send_email", "to"],
    ["fetch", "url"],
    ["read_file", "path"],
  )
  fc.assert(
    fc.property(field, text, ([tool, key], value) => {
      expect(guard.judge({ tool, input: { [key]: value } }).errors).toEqual([])
    }),
  )
})

const words = ["send", "read", "us-west-2", "ssn", "x"]
const namesOf = (type: string): readonly AttributeName[] =>
  attributeNames.filter((name) => attributes[name][0] === type)
const set = fc
  .subarray(words)
  .map((list) => `[${list.map((word) => `"${word}"`).join(", ")}]`)
  .filter((text) => text !== "[]")
const { condition } = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...namesOf("Bool")).map((name) => `context.${name}`),
    fc
      .tuple(fc.constantFrom(...namesOf("Set<String>")), fc.constantFrom(...words))
      .map(([name, word]) => `context.${name}.contains("${word}")`),
    fc
      .tuple(fc.constantFrom(...namesOf("Set<String>")), set, fc.constantFrom("containsAny", "containsAll"))
      .map(([name, texts, how]) => `context.${name}.${how}(${texts})`),
    fc
      .tuple(fc.constantFrom(...namesOf("Set<String>")), set, fc.constantFrom("containsAny", "containsAll"))
      .map(([name, texts, how]) => `${texts}.${how}(context.${name})`),
    fc.constantFrom(...namesOf("Set<String>")).map((name) => `context.${name}.isEmpty()`),
    fc
      .tuple(fc.integer({ min: 0, max: 5 }), fc.constantFrom("<", "<=", ">", ">=", "==", "!="))
      .map(([value, sign]) => `context.spend + context.spent ${sign} ${value}`),
    fc.constantFrom("context.spend * 9223372036854775807 > 4"),
    fc.constantFrom("*a*", "a*", "*b", "a*b*a", "*", "ab").map((pattern) => `context.text like "${pattern}"`),
    fc
      .tuple(tie("condition"), tie("condition"), fc.constantFrom("&&", "||"))
      .map(([left, right, sign]) => `(${left} ${sign} ${right})`),
    tie("condition").map((inner) => `!(${inner})`),
  ),
}))
const valueOfType: Readonly<Record<string, fc.Arbitrary<AttributeValue>>> = {
  Bool: fc.boolean(),
  Long: fc.integer({ min: 0, max: 5 }),
  String: fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 5 }),
  "Set<String>": fc.subarray(words),
}
const context = fc.tuple(...attributeNames.map((name) => valueOfType[attributes[name][0]] ?? fc.constant(false)))

test("what is foreknown not to hold does not hold in Cedar, and raises no error there", () => {
  const property = fc.property(
    fc.array(fc.tuple(fc.constantFrom("when", "unless"), condition), { minLength: 1, maxLength: 2 }),
    context,
    (clauses, values) => {
      const text = `forbid(principal, action, resource) ${clauses.map(([kind, body]) => `${kind} { ${body} }`).join(" ")};`
      const parsed = cedar.policyToJson(text)
      if (parsed.type === "failure") throw new Error(text)
      const facts = new Map(attributeNames.map((name, at) => [name, values[at] ?? false]))
      const get = { value: (name: AttributeName) => facts.get(name) ?? false, isOpen: () => false }
      const mayHold = compileCondition(parsed.json.conditions)(get) !== false
      const answer = cedar.isAuthorized({
        principal: { type: "Holdfast::Agent", id: "a" },
        action: { type: "Holdfast::Action", id: "send" },
        resource: { type: "Holdfast::Tool", id: "t" },
        context: Object.fromEntries(
          [...facts].map(([name, value]) => [name, typeof value === "object" ? [...value] : value]),
        ),
        policies: { staticPolicies: { p: text } },
        entities: [],
      })
      if (answer.type === "failure") throw new Error(JSON.stringify(answer.errors))
      const { reason, errors } = answer.response.diagnostics
      if (!mayHold) expect([text, reason, errors]).toEqual([text, [], []])
    },
  )
  fc.assert(property)
})

test("the schema is one that Cedar takes", () => {
  expect(cedar.checkParseSchema(schemaText)).toEqual({ type: "success" })
})

test("an environment is found in a long text by the same words as in a short one", () => {
  const names =
    "prod pr0d production prd prodDb mainnet live coreprod shopprd nonprod staging stage2 stg uat qa demo dev devel test tests l0cal localhost scratch tmp temp ci"
  const others = "non pre not the least protect develops product testify stagger _ 9 db database Order preview2"
  const word = fc.constantFrom(...names.split(" "), ...others.split(" "))
  const gap = fc.constantFrom(" ", "_", "-", "/", ".", ": ", "__", "")
  const property = fc.property(fc.array(fc.tuple(word, gap), { maxLength: 8 }), fc.boolean(), (pieces, isField) => {
    const text = pieces.flat().join("")
    const long = `${text} ${"and so on, ".repeat(40)}`
    expect([text, ...environmentsIn(long, isField)].sort()).toEqual([text, ...environmentsIn(text, isField)].sort())
  })
  fc.assert(property, { numRuns: 2_000 })
})
