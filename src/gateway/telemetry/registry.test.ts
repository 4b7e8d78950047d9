import { expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { createRegistry } from "./registry.ts"

test("counters, gauges and histograms are written with help and type", () => {
  const registry = createRegistry()
  const counter = registry.counter("calls_total", "Calls.\nAll of them \\o/", ["kind", "tool"])
  counter.add(2, "read", "cat")
  counter.add(1, "read", "cat")
  counter.add(1, "write", 'a "b" \\ c\nd')
  registry.gauge("open", "Open ones.").set(4)
  registry.measured("share", "A share.", () => undefined)
  const histogram = registry.histogram("seconds", "How long.", [0.5, 2])
  for (const value of [0.5, 0.6, 2, 100]) histogram.observe(value)
  expect(registry.render()).toBe(`# HELP calls_total Calls.\\nAll of them \\\\o/
# TYPE calls_total counter
calls_total{kind="read",tool="cat"} 3
calls_total{kind="write",tool="a \\"b\\" \\\\ c\\nd"} 1
# HELP open Open ones.
# TYPE open gauge
open 4
# HELP share A share.
# TYPE share gauge
# HELP seconds How long.
# TYPE seconds histogram
seconds_bucket{le="0.5"} 1
seconds_bucket{le="2"} 3
seconds_bucket{le="+Inf"} 4
seconds_sum 103.1
seconds_count 4
`)
})

test("a counter without labels exists from the start, and one with labels from its first increment", () => {
  const registry = createRegistry()
  registry.counter("plain", ".")
  registry.counter("labelled", ".", ["kind"])
  expect(registry.render()).toContain("\nplain 0\n")
  expect(registry.render()).not.toContain("\nlabelled")
})

test.each([Number.NaN, -1, Infinity, -Infinity])("%s is ignored and does not change a sum", (amount) => {
  const registry = createRegistry()
  registry.counter("sum", ".").add(amount)
  registry.histogram("sizes", ".", [1]).observe(amount)
  expect(registry.render()).toContain("\nsum 0\n")
  expect(registry.render()).toContain("\nsizes_sum 0\nsizes_count 0\n")
})

/** One line, parsed as the format defines. */
const line = /^one\{name="((?:[^"\\\n]|\\[\\n"])*)"\} 1$/

test("any label value is one line and parses back unchanged", () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoints }), (value) => {
      const registry = createRegistry()
      registry.counter("one", ".", ["name"]).add(1, value)
      const [, , sample = "", ...rest] = registry.render().split("\n")
      expect(rest).toEqual([""])
      const said = line.exec(sample)?.[1]
      expect(said?.replace(/\\(.)/g, (_, char) => (char === "n" ? "\n" : char))).toBe(value)
    }),
  )
})

test("for any values, the buckets of a histogram only grow and end with the count", () => {
  const bounds = [1, 10, 100]
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1000, noNaN: true })), (values) => {
      const registry = createRegistry()
      const histogram = registry.histogram("h", ".", bounds)
      for (const value of values) histogram.observe(value)
      const said = [...registry.render().matchAll(/^h_(?:bucket\{.*\}|count) (\d+)$/gm)].map(([, count]) =>
        Number(count),
      )
      const within = bounds.map((bound) => values.filter((value) => value <= bound).length)
      expect(said).toEqual([...within, values.length, values.length])
    }),
  )
})
