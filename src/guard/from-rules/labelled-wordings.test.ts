import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import type { TemplateUse } from "../policy/templates.ts"
import { compileRule } from "./compile-rules.ts"

/** What a label says in the terms of `test/labelled/README.md`. */
type Values = Readonly<Record<string, unknown>>

type Labelled = {
  readonly sentence: string
  readonly family: string | null
  readonly values: Values
  readonly or?: readonly Values[]
  readonly also?: readonly string[]
}

const readSet = (name: string): readonly Labelled[] =>
  readFileSync(new URL(`../../../test/labelled/${name}-policy-families.jsonl`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

const texts = (value: unknown): readonly string[] =>
  [value].flat(2).flatMap((one) => (one === undefined ? [] : [String(one)]))
const sameTexts = (one: unknown, other: unknown, plain = (text: string): string => text): boolean =>
  JSON.stringify([...new Set(texts(one).map(plain))].sort()) ===
  JSON.stringify([...new Set(texts(other).map(plain))].sort())

/** The names of controls in labels that the guard has in one class. */
const controls: Readonly<Record<string, string>> = {
  "audit-log": "audit",
  firewall: "network",
  "rate-limit": "network",
  mfa: "authentication",
  "tls-verification": "encryption",
  antivirus: "detection",
  monitoring: "detection",
  "branch-protection": "access",
  selinux: "access",
  "git-hooks": "security",
}

const production: Readonly<Record<string, readonly string[]>> = {
  "no-production-access": ["read", "write"],
  "no-production-writes": ["write"],
  "no-production-destruction": ["delete"],
}

const isArea = (named: readonly string[]): boolean => named.length === 1 && /^[a-z]{2}$/.test(named[0] ?? "")

/** Does a policy name what its label names and no more, and say of it what the label says? */
function isAsLabelled(family: string, values: Values, { template, ...policy }: TemplateUse & Values): boolean {
  const confines = /^(?:allowed|email-d|region-|language-|channel-|shell-)/.test(template)
  const named = values.only ?? values.never
  const own = policy.domains ?? policy.recipients ?? policy.media ?? policy.regions ?? policy.languages ?? policy.hosts
  switch (family) {
    case "spend":
      return (
        template === "spend-limit" &&
        policy.amount === values.max &&
        (values.currency === undefined || policy.currency === values.currency) &&
        (policy.decision ?? "deny") === values.above &&
        (values.per === undefined || (policy.per ?? "session") === values.per)
      )
    case "production-data":
      return sameTexts(production[template], values.deny)
    case "secrets":
      return template === "no-secrets" && sameTexts(policy.deny ?? ["commit", "print", "read", "send"], values.deny)
    case "personal-data":
      return sameTexts(policy.kinds ?? ["any"], values.kinds, (kind) => (kind === "ssn" ? "national-id" : kind))
    case "security-controls":
      return sameTexts(policy.controls ?? ["any"], values.keep, (name) => controls[name] ?? name)
    case "paths":
      return (
        sameTexts(policy.paths, named, (path) => path.replace(/\/$/, "").toLowerCase()) &&
        confines === (values.only !== undefined) &&
        (confines || { change: "write", delete: "delete", any: "any" }[String(policy.access)] === values.access)
      )
    case "tools":
      if (template === "read-only") return sameTexts(named, "writes")
      return (
        sameTexts([...texts(policy.tools), ...texts(policy.commands)], named) &&
        confines === (values.only !== undefined)
      )
    case "ask-before":
      return sameTexts(policy.acts, values.before, (act) => (act === "email" ? "send" : act))
    default: {
      if (template === "no-network") return sameTexts(named, "*")
      if (values.about !== undefined && template !== "channel-routing") return false
      const isSame = isArea(texts(named)) && family === "regions" ? texts(own).length > 1 : sameTexts(own, named)
      return isSame && confines === (values.only !== undefined)
    }
  }
}

describe.each(["third", "fourth", "fifth"])("the %s set of wordings", (name) => {
  const all = readSet(name)
  const families = [...new Set(all.flatMap(({ family }) => family ?? []))]

  it.each(families)("at least four in five of %s are read, and none wrongly", (family) => {
    const some = all.filter((item) => item.family === family)
    const made = some.flatMap((item) => {
      const found = compileRule(item.sentence)
      return "policy" in found ? [{ item, found }] : []
    })
    const right = made.filter(
      ({ item, found }) =>
        item.also?.includes(found.family) ||
        [item.values, ...(item.or ?? [])].some((values) => isAsLabelled(family, values, { ...found.policy })),
    )
    expect(made.filter((one) => !right.includes(one)).map(({ item }) => item.sentence)).toEqual([])
    expect(right.length / some.length).toBeGreaterThanOrEqual(0.8)
  })

  it("none of those that mean no policy is taken for one", () => {
    const near = all.filter(({ family }) => family === null).map(({ sentence }) => sentence)
    expect(near.filter((sentence) => "policy" in compileRule(sentence))).toEqual([])
  })
})

describe("words that forbid nothing that a call could do", () => {
  it.each([
    // It gives leave.
    ["You no longer need to ask me before you merge."],
    ["Squash and merge it without asking."],
    ["Lift the 200 euro limit, order what you need."],
    // Something is not to stand in messages, which may go out all the same.
    ["Never use emojis in mails to customers."],
    ["Don't send photos by email."],
    ["Never send them by mail."],
    // What is forbidden is something else in the sentence.
    ["Answer in English please, I can't read Greek."],
    ["Write to my mail and not by post."],
    ["Change gen/table.py, not the csv files."],
    ["Raw files are never modified, write to /derived"],
    ["Never paste keys, they are private, read docs/keys.md first"],
    // Two languages, two places: which of them binds cannot be told.
    ["Always answer in Spanish, I read English badly."],
    ["Answer in Spanish instead of French."],
    ["You may read all of /srv/data but write only to /srv/out."],
    // It is one text's, a part's, or somebody else's.
    ["The letter to the bank has to be in English."],
    ["In every German text use Swiss spelling."],
    ["Contributors must sign off every commit."],
    ["Room bookings must be confirmed by the front desk."],
    ["Make sure the importer never deletes rows in production."],
    ["Write a test that checks that no password is printed."],
    ['Put up a sign: "Never share your password".'],
    ["My boss says we must never mail anyone at rival.test."],
    ["Never change hosts.cfg without a second pair of eyes."],
    ["Unless I say otherwise, hotel bookings are refundable only."],
    ["Never run the loader on your own, post the plan and wait."],
  ])("%s", (sentence) => {
    const found = compileRule(sentence)
    // What is left of it may be a policy about something that it does forbid.
    expect("policy" in found ? [found.family, found.policy] : "none").toBe("none")
  })

  it.each([
    ["Never paste tokens into commands, read them from the environment.", { template: "no-secrets", deny: ["send"] }],
    ["never run rm -rf without asking me", { template: "blocked-tools", commands: ["rm -rf"], decision: "ask" }],
    ["Always answer in Spanish, even if I write in English.", { template: "language-policy", languages: ["es"] }],
    ["Reports are posted to Slack, and never sent by e-mail.", { template: "channel-routing", media: ["slack"] }],
    ["Only use Slack, not e-mail.", { template: "allowed-media", media: ["slack"] }],
    ["Nunca ejecutes `npm audit fix --force`.", { template: "blocked-tools", commands: ["npm audit fix --force"] }],
    ["Refunds above 100 euros need two approvals.", { template: "spend-limit", amount: 100, decision: "ask" }],
    ["the files in /data/in are read only", { template: "protected-paths", paths: ["/data/in"], access: "change" }],
    ["Nunca apagues ficheiros da pasta arquivo.", { template: "protected-paths", paths: ["arquivo/"] }],
    ["Never text anyone. No SMS, ever.", { template: "blocked-media", media: ["sms"] }],
  ])("%s binds what it says and no more", (sentence, policy) => {
    expect(compileRule(sentence)).toMatchObject({ policy })
  })
})
