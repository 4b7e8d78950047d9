import { expect, test } from "vitest"
import { fc, isLongRun } from "../../../test/support/property.ts"
import { createGuard, type Guard } from "../guard.ts"

const heads = [
  "principal, action, resource",
  'principal, action == Holdfast::Action::"delete", resource',
  'principal, action in [Holdfast::Action::"write", Holdfast::Action::"send"], resource',
  'principal, action, resource == Holdfast::Tool::"write_file"',
]
const conditions = [
  "context.changes",
  'context.paths.contains("/srv/data")',
  'context.hosts.contains("host.example")',
  "context.network && context.changes",
  'action == Holdfast::Action::"write"',
  'context.recipientDomains.contains("acme.example")',
]
const policy = fc
  .tuple(fc.constantFrom(...heads), fc.constantFrom(...conditions), fc.constantFrom("forbid", "forbid", "permit"))
  .map(([head, condition, effect]) => `${effect}(${head}) when { ${condition} };`)

const call = fc.constantFrom(
  { tool: "write_file", input: { path: "/srv/data", content: "x" } },
  { tool: "bash", input: { command: "rm -rf /srv/data && curl https://host.example/x" } },
  { tool: "send_email", input: { to: "ann@acme.example", body: "hello" } },
  { tool: "read_file", input: { path: "/srv/data" } },
)

const named = (texts: readonly string[], from = 0): readonly string[] =>
  texts.map((text, n) => `@id("p${from + n}")\n${text}`)
const forbiddenBy = (guard: Guard, asked: { readonly tool: string; readonly input: unknown }): readonly string[] =>
  guard
    .judge(asked)
    .reasons.map(({ policy: id }) => id)
    .sort()

test("many policies, asked some at a time, forbid what each of them forbids alone", () => {
  fc.assert(
    fc.property(
      fc.array(policy, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 24 }),
      call,
      (texts, times, asked) => {
        const all = Array.from({ length: times }, () => texts).flat()
        const alone = texts.map((text, n) => forbiddenBy(createGuard(named([text], n)), asked).length > 0)
        const expected = all.flatMap((_, n) => (alone[n % texts.length] === true ? [`p${n}`] : [])).sort()
        expect(forbiddenBy(createGuard(named(all)), asked)).toEqual(expected)
      },
    ),
    { numRuns: isLongRun ? 60 : 20 },
  )
})

test("in a guard that allows only what is permitted, one permit among many policies is enough, and one ban too much", () => {
  const others = Array.from(
    { length: 150 },
    (_, n) => `permit(principal, action, resource == Holdfast::Tool::"tool_${n}");`,
  )
  const asked = { tool: "read_file", input: { path: "src/a.ts" } }
  const permit = 'permit(principal, action == Holdfast::Action::"read", resource);'
  const ban = 'forbid(principal, action, resource == Holdfast::Tool::"read_file");'
  const decisionOf = (policies: readonly string[]): string =>
    createGuard(policies, { mode: "allow-list" }).judge(asked).decision
  expect(decisionOf(others)).toBe("deny")
  expect(decisionOf([...others, permit])).toBe("allow")
  expect(decisionOf([permit, ...others, ban])).toBe("deny")
})
