/** The tool results of the sample session: a made-up booking service, the same on every run. */

const numbered = (lines: readonly string[]): string =>
  lines.map((line, n) => `${String(n + 1).padStart(5)}\t${line}`).join("\n")

const camel = (...words: readonly string[]): string =>
  words.map((word, n) => (n === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join("")

const checks: readonly string[] = [
  "is missing",
  "belongs to another sailing",
  "was released before",
  "is older than its departure",
  "has no passenger",
  "was changed by someone else",
]

/** Returns a source file as `read_file` shows it. */
export const sourceFile = (noun: string, verbs: readonly string[], body?: readonly string[]): string =>
  numbered(sourceLines(noun, verbs, body))

/** Returns functions that apply `verbs` to a `noun`; `body` replaces the body of the first. */
export function sourceLines(noun: string, verbs: readonly string[], body?: readonly string[]): readonly string[] {
  const type = camel("", noun)
  return [
    `import { pool, type Client } from "../db/pool.js"`,
    `import { audit } from "../audit/audit.js"`,
    `import { type ${type}, parse${type} } from "./${noun}-schema.js"`,
    "",
    `const table = "${noun}s"`,
    `const maxRows = ${200 + noun.length * 50}`,
    ...verbs.flatMap((verb, n) => (n === 0 && body !== undefined ? body : operation(noun, type, verb, n))),
  ]
}

function operation(noun: string, type: string, verb: string, n: number): readonly string[] {
  const name = camel(verb, noun)
  const problem = checks[(n + noun.length) % checks.length]
  return [
    "",
    `/** ${camel("", verb)} a ${noun}; the caller holds the transaction. */`,
    `export async function ${name}(client: Client, ${noun}Id: string, by: string): Promise<${type}> {`,
    `  const found = await client.query(`,
    `    \`select * from \${table} where id = $1 and deleted_at is null limit \${maxRows}\`,`,
    `    [${noun}Id],`,
    `  )`,
    `  const [row] = found.rows`,
    `  if (row === undefined) throw new Error(\`${noun} \${${noun}Id} ${problem}\`)`,
    `  const current = parse${type}(row)`,
    `  if (current.version !== row.version) {`,
    `    throw new Error(\`${noun} \${${noun}Id} ${checks[(n + 2) % checks.length]}\`)`,
    `  }`,
    `  const changed = await client.query(`,
    `    \`update \${table} set state = '${verb}', version = version + 1, changed_by = $2 where id = $1 returning *\`,`,
    `    [${noun}Id, by],`,
    `  )`,
    `  await audit(client, "${noun}.${verb}", { ${noun}Id, by, before: current.state })`,
    `  return parse${type}(changed.rows[0])`,
    `}`,
  ]
}

/** Places where the booking service uses seats. */
const callers: readonly (readonly [path: string, line: number])[] = [
  ["src/booking/hold.ts", 12],
  ["src/booking/seat-map.ts", 61],
  ["src/booking/transfer.ts", 48],
  ["src/booking/group.ts", 33],
  ["src/kiosk/sell.ts", 27],
  ["src/kiosk/return.ts", 80],
  ["src/web/checkout.ts", 112],
  ["src/web/change-seat.ts", 44],
  ["src/waitlist/offer.ts", 19],
  ["src/crew/reserve.ts", 70],
  ["src/partner/import.ts", 205],
]

/** Returns the result of a search for a function: file, line, text. */
export const searchHits = (name: string): string =>
  callers
    .flatMap(([path, line]) => [
      `${path}:${line}:    const held = await ${name}(client, request.sailingId, request.seat, request.by)`,
      `${path}:${line + 1}:    if (held.until < request.departure) await warnDesk(client, held) // ${name}`,
    ])
    .join("\n")

const situations = [
  "holds a free seat",
  "refuses a seat that is taken",
  "releases a hold after its time",
  "keeps the hold of a passenger who pays",
  "counts a child as a passenger",
  "moves a hold to the next sailing",
  "asks the waitlist when a seat becomes free",
]

/** Returns the output of a test run: `failures` are the names and messages of what failed. */
export function testRun(
  suites: readonly string[],
  failures: readonly (readonly [name: string, message: string])[],
): string {
  const lines = suites.flatMap((suite, n) => [
    ` ✓ test/${suite}.test.ts (${situations.length} tests) ${120 + n * 31}ms`,
    ...situations.map((situation, at) => `   ✓ ${suite}: ${situation} ${4 + ((n * 13 + at * 7) % 60)}ms`),
  ])
  const failed = failures.flatMap(([name, message], n) => [
    ` FAIL  ${name}`,
    `AssertionError: ${message}`,
    ...["hold", "seat-map", "transfer", "pool"].map(
      (file, at) => `    at src/booking/${file}.ts:${40 + n * 9 + at * 21}:11`,
    ),
    "",
  ])
  const passed = suites.length * situations.length
  return [
    ...lines,
    "",
    ...failed,
    `Tests  ${failures.length} failed | ${passed} passed (${passed + failures.length})`,
  ].join("\n")
}

/** Returns lines of the service's log; every seventh reports a seat that was sold twice. */
export const serviceLog = (lines: number): string =>
  Array.from({ length: lines }, (_, n) => {
    const at = `2026-07-03T07:0${n % 10}:${String((n * 17) % 60).padStart(2, "0")}.${100 + ((n * 53) % 900)}Z`
    const seat = `${1 + (n % 24)}${"ABCDEF"[n % 6]}`
    return n % 7 === 0
      ? `${at} WARN  booking hold-conflict sailing=VH-0710 seat=${seat} holds=2 pool=booking-${n % 3}`
      : `${at} INFO  booking hold-placed sailing=VH-0710 seat=${seat} class=${n % 3 === 0 ? "salon" : "deck"} took=${3 + (n % 19)}ms`
  }).join("\n")
