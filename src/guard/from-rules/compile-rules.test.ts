import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { fc, runs } from "../../../test/support/property.ts"
import { createGuard } from "../guard.ts"
import { templateNames } from "../policy/templates.ts"
import { compileRule, policyInMode, type RulePolicy } from "./compile-rules.ts"

type Group = {
  readonly family: string | null
  readonly policy: Readonly<Record<string, unknown>> | null
  readonly sentences: readonly string[]
}

const groups: readonly Group[] = JSON.parse(
  readFileSync(new URL("../../../test/fixtures/guard/rule-wordings.json", import.meta.url), "utf8"),
)
const families = [...new Set(groups.map(({ family }) => family))].filter((family) => family !== null)

const policyOf = (sentence: string): RulePolicy => {
  const found = compileRule(sentence)
  if (!("policy" in found)) throw new Error(`${sentence}: ${found.why}`)
  return found
}

/** The parameters of a policy in one order; an area stands for more regions than one wants to list. */
function parameters({ name, rule, area, ...policy }: Readonly<Record<string, unknown>>): unknown {
  const entries = Object.entries(policy).map(([key, value]) => [key, Array.isArray(value) ? value.toSorted() : value])
  const isArea = area === "eu" || (Array.isArray(policy.regions) && policy.regions.includes("westeurope"))
  return isArea ? { template: policy.template, area: "eu" } : Object.fromEntries(entries)
}

describe("a rule in words as a policy of the guard", () => {
  for (const family of families)
    it(`reads at least four in five wordings of ${family}, and none wrongly`, () => {
      let [right, all] = [0, 0]
      const wrong: string[] = []
      for (const { policy, sentences } of groups.filter((group) => group.family === family))
        for (const sentence of sentences) {
          all++
          const found = compileRule(sentence)
          if (!("policy" in found)) continue
          const isRight =
            found.family === family &&
            JSON.stringify(parameters(found.policy), orderOf) === JSON.stringify(parameters(policy ?? {}), orderOf)
          if (isRight) right++
          else wrong.push(`${sentence} -> ${JSON.stringify(found.policy)}`)
        }
      expect(wrong).toEqual([])
      expect(all).toBeGreaterThanOrEqual(20)
      expect(right / all).toBeGreaterThanOrEqual(0.8)
    })

  it("makes no policy of what is near a family and is none, and says why", () => {
    const near = groups.filter(({ family }) => family === null).flatMap(({ sentences }) => sentences)
    const taken = near.map(compileRule).filter((found) => "policy" in found)
    expect(near.length).toBeGreaterThanOrEqual(60)
    expect(taken).toEqual([])
    for (const sentence of near)
      expect(compileRule(sentence)).toMatchObject({ rule: sentence, why: expect.any(String) })
  })

  it.each([
    "amounts are always shown in Swiss francs",
    "nur Firmen mit Sitz in der EU",
    "nur EU",
    "You can open anything in the vault, but you must never write to it.",
    "New labels go into `texts/en.json` first and are never written inline.",
  ])("makes no policy of a rule that no call shows: %s", (sentence) => {
    expect(compileRule(sentence)).toMatchObject({ why: expect.any(String) })
  })

  it("makes policies that a guard takes, each with the sentence that it came from", () => {
    const sentences = groups.filter(({ family }) => family !== null).flatMap((group) => group.sentences)
    const compiled = sentences.map(policyOf)
    const guard = createGuard(compiled.map((one) => policyInMode(one, "enforce")))
    expect(new Set(guard.policies.map(({ rule }) => rule))).toEqual(new Set(sentences))
    expect(compiled.every(({ confidence }) => confidence > 0 && confidence <= 1)).toBe(true)
  })

  it("takes any text without an error, and its policies are uses of templates", () => {
    const word = fc.constantFrom(
      ...groups.flatMap(({ sentences }) => sentences.flatMap((sentence) => sentence.split(" "))),
    )
    const text = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.array(word, { maxLength: 25 }).map((words) => words.join(" ")),
    )
    fc.assert(
      fc.property(text, (rule) => {
        const found = compileRule(rule)
        if (!("policy" in found)) return found.why !== ""
        createGuard([found.policy])
        return templateNames.includes(found.policy.template) && found.policy.rule === rule
      }),
      { numRuns: 3 * runs },
    )
  })
})

const orderOf = (_key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value

type Labelled = {
  readonly sentence: string
  readonly family: string | null
  readonly values?: Readonly<Record<string, unknown>>
}

const labelled: readonly Labelled[] = readFileSync(
  new URL("../../../test/labelled/second-policy-families.jsonl", import.meta.url),
  "utf8",
)
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line))

/** The values of a label that stand in a policy, by the names that the guard has for them. */
const inPolicy = (values: unknown): readonly string[] =>
  [values].flat(3).map((value) => (value === "x" ? "twitter" : String(value)))

/** Does a policy name what its label names and no more, and forbid or confine as the label does? Regions of an area are many. */
function isAsLabelled({ values = {} }: Labelled, { policy }: RulePolicy): boolean {
  const named = inPolicy(values.only ?? values.never ?? values.kinds)
  const own = Object.entries(policy).flatMap(([key, value]) =>
    /^(?:media|kinds|recipients|domains|hosts|regions|languages|tools|commands|paths)$/.test(key)
      ? inPolicy(value)
      : [],
  )
  const confines = /^(?:allowed|email|region-|language-|channel-)/.test(policy.template)
  const isSame = named.length === own.length && named.every((value) => own.includes(value))
  return values.kinds === undefined ? isSame && confines === (values.only !== undefined) : isSame
}

describe("wordings that were written before the compiler was read", () => {
  const kindsOf: readonly (readonly [name: string, is: (item: Labelled) => boolean])[] = [
    ["rooms and apps", ({ family }) => family === "channels"],
    ["home addresses", ({ values }) => JSON.stringify(values ?? {}).includes('"address"')],
    ["health data", ({ values }) => JSON.stringify(values ?? {}).includes('"health"')],
  ]
  it.each(kindsOf)("at least four in five of those on %s are read, and none wrongly", (_name, is) => {
    const some = labelled.filter(is)
    const made = some.flatMap((item) => {
      const found = compileRule(item.sentence)
      return "policy" in found ? [{ item, found }] : []
    })
    const right = made.filter(({ item, found }) => isAsLabelled(item, found))
    expect(made.filter((one) => !right.includes(one)).map(({ item }) => item.sentence)).toEqual([])
    expect(some.length).toBeGreaterThanOrEqual(20)
    expect(right.length / some.length).toBeGreaterThanOrEqual(0.8)
  })

  it("none of those that mean no policy is taken for one", () => {
    const near = labelled.filter(({ family }) => family === null).map(({ sentence }) => sentence)
    expect(near.filter((sentence) => "policy" in compileRule(sentence))).toEqual([])
  })
})

type Case = readonly [rule: string, tool: string, broken: object, kept: object]

const cases: readonly Case[] = [
  [
    "Never message anybody on WhatsApp.",
    "send_message",
    { platform: "whatsapp", to: "+4512345678", text: "hi" },
    { platform: "telegram", to: "ann", text: "hi" },
  ],
  [
    "Only use Telegram to reach the drivers.",
    "send_message",
    { platform: "whatsapp", to: "+4512345678", text: "hi" },
    { platform: "telegram", to: "ann", text: "hi" },
  ],
  [
    "You must not post on Twitter.",
    "create_post",
    { platform: "twitter", text: "hi" },
    { platform: "mastodon", text: "hi" },
  ],
  [
    "Never e-mail anyone outside northwind.test.",
    "send_email",
    { to: "eve@elsewhere.test", body: "hi" },
    { to: "ann@northwind.test", body: "hi" },
  ],
  [
    "Never e-mail anyone at press.test.",
    "send_email",
    { to: "eve@press.test", body: "hi" },
    { to: "ann@northwind.test", body: "hi" },
  ],
  [
    "Only send email to desk@northwind.test.",
    "send_email",
    { to: "ann@northwind.test", body: "hi" },
    { to: "desk@northwind.test", body: "hi" },
  ],
  ["No single purchase above $1,500.", "buy_item", { amount: 1600, currency: "USD" }, { amount: 900, currency: "USD" }],
  ["Never deploy to us-east-1.", "deploy_service", { region: "us-east-1" }, { region: "eu-west-1" }],
  ["Deploy to EU regions only.", "deploy_service", { region: "us-east-1" }, { region: "eu-west-1" }],
  [
    "Never write to customers in Spanish.",
    "send_email",
    { to: "a@b.test", body: "Hola, gracias por su pedido, que ya está en camino para usted." },
    { to: "a@b.test", body: "Hello, thank you for your order, which is on its way to you." },
  ],
  [
    "Do not connect to the production database.",
    "bash",
    { command: "psql -h prod-db -c 'select 1'" },
    { command: "grep -rn production docs/" },
  ],
  ["Never connect to prod.", "bash", { command: "psql -h db.production.test -c 'select 1'" }, { command: "ls" }],
  [
    "Don't modify anything in infra/.",
    "Write",
    { file_path: "infra/main.tf", content: "x" },
    { file_path: "src/a.ts", content: "x" },
  ],
  [
    "Only change files under src/.",
    "Write",
    { file_path: "docs/a.md", content: "x" },
    { file_path: "src/a.ts", content: "x" },
  ],
  [
    "Never delete anything from data/raw.",
    "bash",
    { command: "rm data/raw/a.csv" },
    { command: "touch data/raw/b.csv" },
  ],
  [
    "Don't connect to pastebin.test.",
    "bash",
    { command: "curl https://pastebin.test/x" },
    { command: "curl https://api.northwind.test/x" },
  ],
  [
    "Never use git push --force.",
    "bash",
    { command: "git -C sub push origin main -f" },
    { command: "git push origin main" },
  ],
  ["Never run rm -rf.", "bash", { command: "rm -r -f build" }, { command: "rm build/a.o" }],
  ["Never call delete_customer.", "delete_customer", { id: 4 }, {}],
  ["Ask before pushing.", "bash", { command: "git push" }, { command: "git status" }],
  ["Ask me before you deploy.", "deploy_service", { region: "eu-west-1" }, {}],
  ["Never commit secrets.", "bash", { command: "git add .env" }, { command: "git add src/a.ts" }],
  ["Never turn off the firewall.", "bash", { command: "ufw disable" }, { command: "ufw status" }],
  [
    "Never post to #exec or #board.",
    "slack_post_message",
    { channel: "#board", text: "hi" },
    { channel: "#bots", text: "hi" },
  ],
  [
    "Your messages go to #bots exclusively.",
    "slack_post_message",
    { channel: "general", text: "hi" },
    { channel: "bots", text: "hi" },
  ],
  [
    "Sources are contacted over Signal and nothing else.",
    "send_message",
    { platform: "whatsapp", to: "+4512345678", text: "hi" },
    { platform: "signal", to: "+4512345678", text: "hi" },
  ],
  [
    "Never give anyone my home address.",
    "send_email",
    { to: "a@b.test", body: "She lives at 14 Pell Street, second floor." },
    { to: "a@b.test", body: "She lives near the harbour, on the second floor." },
  ],
  [
    "Gib Adressen von Mitgliedern nie weiter.",
    "send_email",
    { to: "a@b.test", body: "Anna wohnt in der Lindenstraße 12." },
    { to: "a@b.test", body: "Anna wohnt am Hafen." },
  ],
  [
    "Medical information about staff must not be shared.",
    "send_email",
    { to: "a@b.test", body: "Tom was diagnosed with asthma last week." },
    { to: "a@b.test", body: "Tom is away until Monday." },
  ],
]

describe("a policy from a rule, asked about calls", () => {
  for (const [rule, tool, broken, kept] of cases)
    it(`${rule} is kept`, () => {
      const guard = createGuard([policyInMode(policyOf(rule), "enforce")])
      const verdict = guard.judge({ tool, input: broken })
      expect(verdict.decision).not.toBe("allow")
      expect(verdict.reasons[0]?.rule).toBe(rule)
      if (Object.keys(kept).length > 0) expect(guard.judge({ tool, input: kept }).decision).toBe("allow")
    })

  it("only tells what it would have decided where it is observed, and asks where it may bind too much", () => {
    const sure = policyOf("Never e-mail anyone outside northwind.test.")
    const call = { tool: "send_email", input: { to: "eve@elsewhere.test", body: "hi" } }
    const observed = createGuard([policyInMode(sure, "observe")]).judge(call)
    expect([observed.decision, observed.observed?.[0]?.decision]).toEqual(["allow", "deny"])
    expect(createGuard([policyInMode(sure, "ask")]).judge(call).decision).toBe("ask")
    expect(createGuard([policyInMode(sure, "enforce")]).judge(call).decision).toBe("deny")
    expect(policyInMode({ ...sure, confidence: 0.6 }, "enforce").decision).toBe("ask")
  })
})
