import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { diffStacks } from "../src/compact/stack/diff.ts"
import { stackFloor } from "../src/compact/stack/fit.ts"
import { layers, renderStack, type SectionDefinition, sectionsOf } from "../src/compact/stack/stack.ts"
import { HoldfastError } from "../src/message/errors.ts"
import { createStackReader, fitToWindow } from "../src/session/stack/stack-options.ts"
import { createMeter } from "../src/tokens/meter.ts"
import { fc } from "./support/property.ts"
import { root } from "./support/source.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-stacks-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const lines = fc
  .array(fc.lorem({ maxCount: 8 }), { minLength: 1, maxLength: 30 })
  .map((words) => words.map((line, n) => `${n}. ${line}`).join("\n"))

const anySection: fc.Arbitrary<SectionDefinition> = fc
  .record({
    layer: fc.constantFrom(...layers),
    name: fc.stringMatching(/^[a-z]{1,4}\.md$/),
    source: lines,
    document: fc.boolean(),
    order: fc.integer({ min: -1, max: 1 }),
    minTokens: fc.integer({ min: 0, max: 20 }),
    shrink: fc.constantFrom("fixed" as const, "truncate" as const, "drop" as const),
  })
  .map(({ shrink, minTokens, ...section }) => ({
    ...section,
    shrink: { type: shrink },
    ...(shrink === "drop" ? {} : { minTokens }),
  }))

const identity: SectionDefinition = { layer: "base", name: "identity", source: "You are Ada, and stay so." }
const anyStack = fc
  .uniqueArray(anySection, { selector: ({ name }) => name, maxLength: 6 })
  .map((sections): readonly SectionDefinition[] => [identity, ...sections])

const meter = createMeter({ model: "claude-sonnet-4-5" })

/** The texts that are sent for a stack in a budget, or why there are none. */
async function textsOf(sections: readonly SectionDefinition[], maxTokens: number): Promise<string> {
  try {
    const stack = await createStackReader().read({ sections })
    const fitted = fitToWindow(stack, { maxTokens }, { meter, windowTokens: 100_000 })
    return JSON.stringify([fitted.stack.hash, renderStack(fitted.stack)])
  } catch (error) {
    if (error instanceof HoldfastError) return error.problem.code
    throw error
  }
}

test("the same stacks in the same budgets are the same bytes in another process", async () => {
  const stacks = fc.sample(fc.tuple(anyStack, fc.integer({ min: 5, max: 1500 })), { numRuns: 60, seed: 20261116 })
  writeFileSync(join(folder, "stacks.json"), JSON.stringify(stacks))
  const script = `
import { readFileSync } from "node:fs"
const from = (path) => import(${JSON.stringify(`${root}/src/`)} + path)
const { createStackReader, fitToWindow } = await from("session/stack/stack-options.ts")
const { renderStack } = await from("compact/stack/stack.ts")
const { createMeter } = await from("tokens/meter.ts")
const meter = createMeter({ model: "claude-sonnet-4-5" })
const texts = []
for (const [sections, maxTokens] of JSON.parse(readFileSync("stacks.json", "utf8"))) {
  try {
    const stack = await createStackReader().read({ sections: sections.toReversed() })
    const fitted = fitToWindow(stack, { maxTokens }, { meter, windowTokens: 100_000 })
    texts.push(JSON.stringify([fitted.stack.hash, renderStack(fitted.stack)]))
  } catch (error) {
    texts.push(error.problem.code)
  }
}
console.log(JSON.stringify(texts))
`
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
    encoding: "utf8",
  })
  const here = await Promise.all(stacks.map(([sections, maxTokens]) => textsOf(sections, maxTokens)))
  expect(JSON.parse(printed)).toEqual(here)
  expect(here.filter((text) => text.startsWith("[")).length).toBeGreaterThan(10)
})

test("for any stack and budget: it is refused, or its minimums are kept, identity is whole, and the order is that of the whole", async () => {
  await fc.assert(
    fc.asyncProperty(anyStack, fc.integer({ min: 5, max: 1500 }), async (sections, maxTokens) => {
      const stack = await createStackReader().read({ sections })
      if (stackFloor(stack, meter) > maxTokens) return
      const { stack: fitted } = fitToWindow(stack, { maxTokens }, { meter, windowTokens: 100_000 })
      const [before, after] = [sectionsOf(stack), sectionsOf(fitted)]
      expect(after.map(({ name }) => name)).toEqual(before.map(({ name }) => name))
      for (const [n, section] of after.entries()) {
        const whole = before[n]
        if (whole === undefined) continue
        if (section.name === "identity") expect(section).toEqual(whole)
        const least = Math.min(meter.text(whole.text), whole.minTokens)
        if (whole.shrink.type === "truncate") expect(meter.text(section.text)).toBeGreaterThanOrEqual(least)
        if (whole.shrink.type === "fixed") expect(section.text).toBe(whole.text)
      }
    }),
  )
})

test("for any stack of which one section changes, the difference is exactly that section", async () => {
  await fc.assert(
    fc.asyncProperty(anyStack, fc.nat(), async (sections, at) => {
      const changed = sections[at % sections.length]
      const others = sections.map((section) =>
        section === changed ? { ...section, source: `${section.source}\nOne more line.` } : section,
      )
      const [before, after] = await Promise.all(
        [sections, others].map((all) => createStackReader().read({ sections: all })),
      )
      if (before === undefined || after === undefined) throw new Error("unreachable")
      expect(diffStacks(before, after)).toMatchObject([{ type: "section-changed", section: changed?.name }])
      expect(diffStacks(before, after)).toHaveLength(1)
    }),
  )
})
