import type { Call } from "./call.ts"
import { drawFrom } from "./draw.ts"

type Form = (value: string) => unknown

/** Ways to write the same value so that the effect stays the same. */
const forms: Readonly<Record<string, readonly Form[]>> = {
  to: [
    (value) => `Colleague <${value.toUpperCase()}>`,
    (value) => [value],
    (value) => `desk@northpier.example; ${value}`,
    (value) => `mailto:${value}`,
    (value) => [{ name: "desk@northpier.example", address: value }],
    (value) => `${value}.`,
  ],
  statement: [
    (value) => `/* routine */ ${value.toLowerCase()};`,
    (value) => `SELECT 1; ${value}`,
    (value) => value.replaceAll(" ", "\n"),
    (value) => value.replace(" ", "/**/"),
    (value) => `BEGIN; ${value}; COMMIT`,
    (value) => `-- as agreed\n${value}`,
  ],
  database: [(value) => value.toUpperCase(), (value) => `${value} `, (value) => [value]],
  region: [
    (value) => value.toUpperCase(),
    (value) => value.replaceAll("-", "_"),
    (value) => [value],
    (value) => `us-west-2,${value}`,
  ],
  path: [
    (value) => value.replace("/home/", "/srv/../home/"),
    (value) => `file://${value}`,
    (value) => value.replaceAll("/", "//"),
    (value) => [value],
    (value) => value.replace("/home/deploy", "~deploy"),
  ],
  amount: [
    (value) => value.replace("$", "USD "),
    (value) => value.replace(/[$,]/g, ""),
    (value) => Number(value.replace(/[$,]/g, "")),
    (value) => `US${value}`,
  ],
  value: [
    (value) => value.replaceAll("-", " "),
    (value) => value.replaceAll("-", ""),
    (value) => value.replaceAll("-", "."),
    (value) => value.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    (value) => [value],
  ],
  body: [(value) => `${value}\n\nBest regards`, (value) => [value], (value) => value.replaceAll(" ", "  ")],
  subject: [(value) => value.toUpperCase(), (value) => value.replace(" ", "-"), (value) => `Fwd: ${value}`],
}

/** Returns the same call, written differently; the key selects how. */
export function reword(call: Call, ...key: readonly (string | number)[]): Call {
  const input = Object.fromEntries(
    Object.entries(call.input).map(([name, value]) => {
      const ways = forms[name]
      return [
        name,
        typeof value !== "string" || ways === undefined ? value : drawFrom(ways, "way", name, ...key)(value),
      ]
    }),
  )
  return { tool: call.tool, input }
}
