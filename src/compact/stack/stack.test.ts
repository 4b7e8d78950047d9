import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { HoldfastError } from "../../message/errors.ts"
import { hashText } from "../../message/sha256.ts"
import { diffStacks } from "./diff.ts"
import {
  type Layer,
  layers,
  type Readers,
  renderStack,
  resolveStack,
  type StackDefinition,
  sectionsOf,
} from "./stack.ts"

const files: Readonly<Record<string, string>> = { "tools.md": "Use tools.\n", "style.md": "Write plainly." }
const readers: Readers = {
  readFile: async (path) => {
    const text = files[path]
    if (text === undefined) throw new Error(`no such file: ${path}`)
    return text
  },
}
const definition: StackDefinition<{ readonly goal: string }> = [
  { layer: "task", name: "mission", source: ({ goal }) => `Do this: ${goal}`, heading: "Mission" },
  { layer: "context", name: "style", source: { type: "file", path: "style.md" }, label: "v3" },
  { layer: "base", name: "tools", source: { type: "file", path: "tools.md" } },
  { layer: "base", name: "appendix", source: async () => "" },
  { layer: "base", name: "identity", source: "You are Ada." },
  { layer: "base", name: "welcome", source: "Read this first.", order: -1 },
]
const resolve = (defined: StackDefinition<{ readonly goal: string }>, goal = "ship") =>
  resolveStack(defined, { goal }, readers)

test("layers stand in their order, one part each, sections by order and name, identity before the others", async () => {
  const stack = await resolve(definition)
  expect(renderStack(stack)).toEqual([
    { type: "text", text: "Read this first.\n\nYou are Ada.\n\nUse tools.\n" },
    { type: "text", text: "Write plainly." },
    { type: "text", text: "# Mission\n\nDo this: ship" },
  ])
  expect(sectionsOf(stack).map(({ name }) => name)).toEqual([
    "welcome",
    "identity",
    "appendix",
    "tools",
    "style",
    "mission",
  ])
})

test("the version of a file's section is the file's sha256", async () => {
  const stack = await resolve(definition)
  expect(sectionsOf(stack).find(({ name }) => name === "style")).toMatchObject({
    hash: hashText("Write plainly."),
    label: "v3",
  })
})

test("a line end at the end of a file does not widen the gap after it", async () => {
  const stack = await resolve([
    { layer: "base", name: "a", source: "one\n" },
    { layer: "base", name: "b", source: "two\n\n\n" },
    { layer: "base", name: "c", source: "three" },
  ])
  expect(renderStack(stack)).toEqual([{ type: "text", text: "one\n\ntwo\n\n\nthree" }])
})

describe("what cannot be a stack is refused by name", () => {
  const unknown = JSON.parse('{"layer":"cellar","name":"x","source":""}')
  const noText = JSON.parse('{"layer":"base","name":"x","source":{"type":"url"}}')
  const cases: [why: string, definition: StackDefinition, code: string, section: string][] = [
    ["no name", [{ layer: "base", name: " ", source: "" }], "stack-invalid", " "],
    ["an unknown layer", [unknown], "stack-invalid", "x"],
    ["an unknown source", [noText], "stack-invalid", "x"],
    [
      "one name twice, in two layers",
      [
        { layer: "base", name: "x", source: "" },
        { layer: "task", name: "x", source: "" },
      ],
      "stack-invalid",
      "x",
    ],
    ["an empty identity", [{ layer: "base", name: "identity", source: "\n" }], "stack-invalid", "identity"],
    [
      "an identity that shrinks",
      [{ layer: "base", name: "identity", source: "I", shrink: { type: "truncate" } }],
      "stack-invalid",
      "identity",
    ],
    [
      "a minimum that may be dropped",
      [{ layer: "base", name: "x", source: "", minTokens: 5, shrink: { type: "drop" } }],
      "stack-invalid",
      "x",
    ],
    ["a heading of two lines", [{ layer: "base", name: "x", source: "", heading: "a\nb" }], "stack-invalid", "x"],
    ["half a token", [{ layer: "base", name: "x", source: "", minTokens: 0.5 }], "stack-invalid", "x"],
    ["a missing file", [{ layer: "base", name: "x", source: { type: "file", path: "?" } }], "source-unreadable", "x"],
    [
      "a function that throws",
      [
        {
          layer: "base",
          name: "x",
          source: () => {
            throw new Error("no")
          },
        },
      ],
      "source-unreadable",
      "x",
    ],
    [
      "a function that gives no text",
      [{ layer: "base", name: "x", source: () => JSON.parse("7") }],
      "source-unreadable",
      "x",
    ],
    [
      "an unreadable variant",
      [
        {
          layer: "base",
          name: "x",
          source: "long",
          shrink: { type: "swap", variants: [{ type: "file", path: "?" }] },
        },
      ],
      "source-unreadable",
      "x",
    ],
  ]
  test.each(cases)("%s", async (_why, defined, code, section) => {
    const refused = await resolveStack(defined, undefined, readers).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(HoldfastError)
    expect(refused).toMatchObject({ problem: { code, section } })
  })

  test("of several failures, the first in the stack is named, whichever came first in time", async () => {
    const late: StackDefinition = [
      { layer: "task", name: "soon", source: () => Promise.reject(new Error("soon")) },
      {
        layer: "base",
        name: "late",
        source: async () => {
          for (let turn = 0; turn < 50; turn++) await Promise.resolve()
          throw new Error("late")
        },
      },
    ]
    await expect(resolveStack(late, undefined, readers)).rejects.toMatchObject({ problem: { section: "late" } })
  })
})

describe("a diff names what changed", () => {
  const replaced = (name: string, source: string): typeof definition =>
    definition.map((section) => (section.name === name ? { ...section, source } : section))
  test("nothing", async () => {
    expect(diffStacks(await resolve(definition), await resolve(definition.toReversed()))).toEqual([])
  })
  test("another text, with its labels", async () => {
    expect(diffStacks(await resolve(definition), await resolve(replaced("style", "Write tersely.")))).toEqual([
      {
        type: "section-changed",
        layer: "context",
        section: "style",
        from: { hash: hashText("Write plainly."), label: "v3" },
        to: { hash: hashText("Write tersely."), label: "v3" },
      },
    ])
  })
  test("another input", async () => {
    const changes = diffStacks(await resolve(definition, "ship"), await resolve(definition, "test"))
    expect(changes).toMatchObject([{ type: "section-changed", layer: "task", section: "mission" }])
  })
  test("added, removed, moved and put in another order", async () => {
    const after = definition
      .filter(({ name }) => name !== "tools")
      .map((section) => (section.name === "style" ? { ...section, layer: "role" as const } : section))
      .map((section) => (section.name === "welcome" ? { ...section, order: 1 } : section))
    const added = { layer: "role", name: "team", source: "You work with Bo." } as const
    const changes = diffStacks(await resolve(definition), await resolve([...after, added]))
    expect(changes).toMatchObject([
      { type: "section-removed", section: "tools" },
      { type: "section-moved", section: "style", from: "context", to: "role" },
      { type: "section-added", section: "team" },
      { type: "layer-reordered", layer: "base" },
    ])
  })
})

const anyDefinition = fc
  .uniqueArray(
    fc.record(
      {
        layer: fc.constantFrom<Layer>(...layers),
        name: fc.oneof(fc.constantFrom("identity", "tools", "memory"), fc.string({ minLength: 1, maxLength: 3 })),
        source: fc.oneof(fc.string(), fc.constantFrom("a", "b\n", "c\n\n", "\ud800")),
        heading: fc.constantFrom("A", "B"),
        order: fc.integer({ min: -1, max: 1 }),
      },
      { requiredKeys: ["layer", "name", "source"] },
    ),
    { selector: ({ name }) => name, maxLength: 6 },
  )
  .map((sections) =>
    sections
      .filter(({ name }) => name.trim() !== "")
      .map((section) => (section.name === "identity" ? { ...section, source: `I am ${section.source}` } : section)),
  )

test("for any definition, its order changes nothing, and equal hashes mean equal bytes and no difference", async () => {
  await fc.assert(
    fc.asyncProperty(anyDefinition, anyDefinition, fc.integer(), async (one, two, turn) => {
      const at = one.length === 0 ? 0 : Math.abs(turn) % one.length
      const [stack, turned, other] = await Promise.all(
        [one, [...one.slice(at), ...one.slice(0, at)].toReversed(), two].map((defined) =>
          resolveStack<unknown>(defined, undefined, readers),
        ),
      )
      if (stack === undefined || turned === undefined || other === undefined) throw new Error("unreachable")
      expect(turned).toEqual(stack)
      expect(renderStack(turned)).toEqual(renderStack(stack))
      expect(diffStacks(stack, other).length === 0).toBe(stack.hash === other.hash)
      if (stack.hash === other.hash) expect(renderStack(other)).toEqual(renderStack(stack))
    }),
  )
})
