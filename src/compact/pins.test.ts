import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { textOf } from "../message/message.ts"
import type { PinnedRule } from "../rules/pin.ts"
import { survivalOf } from "../rules/survival.ts"
import { pinsMessage } from "./pins.ts"

const hasRule = (value: unknown): value is { readonly rule: string } =>
  typeof value === "object" && value !== null && "rule" in value && typeof value.rule === "string"

const rules: readonly string[] = ["survival-rules", "survival-cases", "common-rules"]
  .flatMap((name) =>
    readFileSync(new URL(`../../test/fixtures/pin/${name}.jsonl`, import.meta.url), "utf8")
      .trim()
      .split("\n"),
  )
  .map((line): unknown => JSON.parse(line))
  .flatMap((value) => (hasRule(value) ? [value.rule] : []))

const source = fc.constantFrom("docs/POLICY.md", "read_file", 'a "quoted" <name>', "手册.txt", "")
const pinned: fc.Arbitrary<PinnedRule> = fc.record(
  {
    text: fc.constantFrom(...new Set(rules)),
    channel: fc.constantFrom("user", "tool", "document", "memory", "system"),
    source,
    context: fc.constantFrom("Security", "Rules for this project:", "Care desk and returns", "Reglas", "规则"),
  },
  { requiredKeys: ["text", "channel"] },
)

test("a rule in the message of pins is judged to stand, whoever it is from and whatever it stood under", () => {
  fc.assert(
    fc.property(pinned, (pin) => {
      const text = pinsMessage([pin], "m1").parts.map(textOf).join("\n")
      expect(survivalOf([pin.text], text)).toMatchObject([{ verdict: "verbatim" }])
    }),
  )
})
