import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { anyJson, manner, writeIn } from "../../test/support/raw-json.ts"
import { HoldfastError } from "../message/errors.ts"
import { wireText } from "../message/message.ts"
import { runSteps } from "../message/steps.ts"
import {
  elements,
  hasMorePieces,
  isObject,
  type Json,
  member,
  pathOf,
  readJson,
  readJsonSteps,
  tryParse,
  wireOf,
} from "./json.ts"
import { overlay, write } from "./json-write.ts"

const texts = fc.tuple(anyJson, manner).map(([value, how]) => writeIn(how, value))

/** Every value below this one, itself included. */
function* below(json: Json): Generator<Json> {
  yield json
  for (const item of elements(json)) yield* below(item)
  if (!isObject(json.value)) return
  for (const name of Object.keys(json.value)) {
    const found = member(json, name)
    if (found !== undefined) yield* below(found)
  }
}

/** Objects that stand in a value at these depths, by the value alone. */
function objectsAt(value: unknown, depths: readonly number[], depth = 1): number {
  if (typeof value !== "object" || value === null) return 0
  const own = !Array.isArray(value) && depths.includes(depth) ? 1 : 0
  return Object.values(value).reduce<number>((sum, inner) => sum + objectsAt(inner, depths, depth + 1), own)
}

test("for any JSON text, its messages and parts are counted without parsing it", () => {
  const body = fc.array(
    fc.record({ role: fc.string(), content: fc.array(fc.record({ text: fc.string() })), x: anyJson }),
  )
  fc.assert(
    fc.property(
      fc.oneof(
        anyJson,
        body.map((messages) => ({ messages })),
      ),
      manner,
      fc.nat(40),
      fc.integer({ min: 1, max: 300 }),
      (value, how, limit, most) => {
        const text = writeIn(how, value)
        expect(runSteps(hasMorePieces(text, limit, most))).toBe(objectsAt(JSON.parse(text), [3, 5]) > limit)
      },
    ),
  )
})

/** What reading gives, or the problem that it ends with; with the values in the order of their names. */
function outcomeOf(read: () => Json): unknown {
  try {
    const json = read()
    return { told: JSON.stringify(json.value), value: json.value, places: [...below(json)].map(wireOf) }
  } catch (error) {
    return error instanceof HoldfastError ? error.problem : error
  }
}

describe("a text that is read some characters at a time", () => {
  const step = fc.integer({ min: 1, max: 120 })

  test("has the same values in the same places, however long the steps are", () => {
    const named = fc.constantFrom(
      '{"__proto__":{"a":1},"b":[1,2,{"__proto__":null}]}',
      '{"a":1,"a":{"b":2},"2":0,"1":0}',
    )
    fc.assert(
      fc.property(fc.oneof(texts, named), step, (text, most) => {
        expect(outcomeOf(() => runSteps(readJsonSteps(text, "request", most)))).toEqual(
          outcomeOf(() => readJson(text, "request")),
        )
      }),
    )
  })
  test("is refused with the same problem if something is wrong with it", () => {
    const signs = fc.constantFrom(",", ":", "}", "]", "{", "[", '"', "\\", "x", "\u0001", " ", "1", '"a"')
    fc.assert(
      fc.property(texts, fc.nat(), fc.nat(3), signs, step, (text, place, gone, sign, most) => {
        const at = place % (text.length + 1)
        const broken = text.slice(0, at) + sign + text.slice(at + gone)
        expect(outcomeOf(() => runSteps(readJsonSteps(broken, "request", most)))).toEqual(
          outcomeOf(() => readJson(broken, "request")),
        )
      }),
    )
  })
})

describe("for any JSON text", () => {
  test("each value stands where it says it stands", () => {
    fc.assert(
      fc.property(texts, (text) => {
        for (const json of below(readJson(text, "request"))) {
          expect(JSON.parse(wireOf(json))).toEqual(json.value)
          expect(wireOf(json)).toBe(wireOf(json).trim())
        }
      }),
    )
  })
  test("overlaying what it says changes no letter; overlaying something else changes just that", () => {
    const objects = fc
      .tuple(fc.dictionary(fc.string(), anyJson, { maxKeys: 5, noNullPrototype: true }), manner)
      .map(([value, how]) => writeIn(how, value).trim())
    fc.assert(
      fc.property(objects, fc.nat(), fc.option(fc.string(), { nil: undefined }), (text, which, said) => {
        const value = JSON.parse(text) as Record<string, unknown>
        const same = Object.fromEntries(Object.entries(value).map(([name, held]) => [name, write(held)]))
        expect(overlay(wireText(text), same)).toBe(text)
        const names = Object.keys(value)
        const name = names[which % Math.max(1, names.length)] ?? "fresh"
        const changed = JSON.parse(overlay(wireText(text), { [name]: said === undefined ? undefined : write(said) }))
        const { [name]: _, ...others } = value
        expect(changed).toEqual(said === undefined ? others : { ...others, [name]: said })
      }),
    )
  })
})

test("of repeated names the last counts, as it does for JSON.parse", () => {
  const json = readJson('{"a": 1, "a": 2}', "request")
  expect(member(json, "a")?.value).toBe(2)
  expect(JSON.parse(overlay(wireText('{"a": 1, "a": 2}'), { a: write(3) }))).toEqual({ a: 3 })
  expect(overlay(wireText('{"a": 1, "b": 0, "a": 2}'), { a: undefined })).toBe('{"b": 0}')
})

test("a name written with escapes is the same name", () => {
  expect(member(readJson('{"\\u006dodel": "m"}', "request"), "model")?.value).toBe("m")
})

test("a path reads as one would write it", () => {
  const part = member(elements(member(readJson('{"a":[{"b":1}]}', "request"), "a") as Json)[0] as Json, "b") as Json
  expect(pathOf(part)).toBe("a[0].b")
})

test.each([
  ["[", "]"],
  ['{"a":', "}"],
  ['[{"a":', "}]"],
])("what nests too deep is no JSON: %s", (open, close) => {
  const nested = (times: number): string => `${open.repeat(times)}1${close.repeat(times)}`
  expect(tryParse(nested(200))).toEqual(JSON.parse(nested(200)))
  expect(tryParse(nested(100_000))).toBeUndefined()
})
