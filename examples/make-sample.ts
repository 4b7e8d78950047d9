import { writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { searchHits, serviceLog, sourceFile, sourceLines, testRun } from "./sample-texts.ts"

/** Writes sample-session.json: a long day of a made-up coding agent, as the body of its next request. `node examples/make-sample.ts` */

type Block = Readonly<Record<string, unknown>>
type Message = { readonly role: "user" | "assistant"; readonly content: readonly Block[] }
const messages: Message[] = []
const text = (words: string): Block => ({ type: "text", text: words })
const user = (...words: readonly string[]): void => void messages.push({ role: "user", content: words.map(text) })
const assistant = (words: string): void => void messages.push({ role: "assistant", content: [text(words)] })

let calls = 0
/** The assistant says something, calls a tool and gets its result. */
function round(words: string, name: string, input: Block, output: string, failed = false): void {
  const id = `toolu_${String(++calls).padStart(3, "0")}`
  messages.push({ role: "assistant", content: [text(words), { type: "tool_use", id, name, input }] })
  const result = { type: "tool_result", tool_use_id: id, content: output, ...(failed ? { is_error: true } : {}) }
  messages.push({ role: "user", content: [result] })
}
const read = (words: string, path: string, output: string): void => round(words, "read_file", { path }, output)
const run = (words: string, command: string, output: string, failed = false): void =>
  round(words, "run", { command }, output, failed)
const edit = (words: string, path: string, before: string, after: string): void =>
  round(words, "edit_file", { path, before, after }, `Edited ${path}: 1 replacement.`)
const todo = (words: string, items: readonly (readonly [content: string, status: string])[]): void =>
  round(words, "todo_write", { todos: items.map(([content, status]) => ({ content, status })) }, "Todos saved.")

const guide = `<system-reminder>
# CLAUDE.md
Contents of /srv/ferryline/CLAUDE.md (project instructions, checked in):

## Ferryline booking service
- TypeScript, Node 24, PostgreSQL 17. Build with \`npm run build\`, test with \`npm test -- --run\`.
- Never edit a file under src/generated: it is written by \`npm run codegen\`.
- All amounts are integers in øre. Never use floating point for money.
- A database transaction is opened by the HTTP layer only; functions take the client as their first argument.
- Commit messages: imperative, one line, with the ticket id in front.
</system-reminder>`

const suites = ["hold", "seat-map", "transfer", "waitlist", "kiosk", "refund"]
const helped: readonly (readonly [string, string])[] = [
  ["hold: two passengers, one seat, same millisecond", "expected 1 hold for VH-0710 seat 14C, got 2"],
  ["transfer: moves a group while a kiosk sells", "expected seat 15A to be free, it has hold h_88213"],
]

user(
  guide,
  "Since the summer timetable went live, some seats on sailing VH-0710 are sold twice when many people book at the same moment. Ticket FERRY-2291. Find the cause, fix it and add a test that fails without the fix. Do not change the public functions of src/booking, the kiosks in Varholm run an old client against them.",
)
todo("I will start with a list of what has to be done.", [
  ["Find where a hold is placed", "in_progress"],
  ["Reproduce the double hold in a test", "pending"],
  ["Fix it without changing the public functions", "pending"],
  ["Load test with 20000 holds", "pending"],
  ["Release note for operations", "pending"],
])
round("First, everything that places a hold.", "grep", { pattern: "holdSeat\\(", path: "src" }, searchHits("holdSeat"))
read(
  "The hold itself.",
  "src/booking/hold.ts",
  sourceFile(
    "hold",
    ["place", "renew", "release", "expire", "list"],
    [
      "",
      "/** Hold a seat for ten minutes. */",
      "export async function holdSeat(client: Client, sailingId: string, seat: string, by: string): Promise<Hold> {",
      "  const taken = await client.query(`select 1 from holds where sailing_id = $1 and seat = $2 and until > now()`, [sailingId, seat])",
      "  if (taken.rows.length > 0) throw new SeatTaken(sailingId, seat)",
      "  // Between the question above and the answer below another client may do the same.",
      "  const made = await client.query(`insert into holds (sailing_id, seat, held_by, until) values ($1, $2, $3, now() + interval '10 minutes') returning *`, [sailingId, seat, by])",
      "  return parseHold(made.rows[0])",
      "}",
    ],
  ),
)
read(
  "The seat map asks the same table.",
  "src/booking/seat-map.ts",
  sourceFile("seat", ["show", "block", "free", "assign", "swap", "rename"]),
)
run("What the log of that morning says.", "grep VH-0710 logs/booking-2026-07-03.log | head -70", serviceLog(70))
read("How connections are handed out.", "src/db/pool.ts", sourceFile("client", ["lend", "return", "reset", "count"]))
run("The tests as they are.", "npm test -- --run", testRun(suites, []))
read(
  "The test of the hold, to add a race to it.",
  "test/hold.test.ts",
  sourceFile("passenger", ["seat", "move", "refuse", "charge"]),
)
edit(
  "A test that places two holds at once, on two clients.",
  "test/hold.test.ts",
  "// races",
  "test('two passengers, one seat, same millisecond', async () => {\n  const both = await Promise.allSettled([holdSeat(one, 'VH-0710', '14C', 'p_1'), holdSeat(two, 'VH-0710', '14C', 'p_2')])\n  expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)\n})",
)
run("It should fail now.", "npm test -- --run test/hold.test.ts", testRun(["hold"], helped.slice(0, 1)), true)
assistant(
  "Reproduced: the check and the insert in holdSeat are two statements, so two clients can both find the seat free. The log agrees: every hold-conflict has holds=2 and comes from two pools.",
)
user("ok, go on and fix it")
edit(
  "I will retry when the insert finds a second hold.",
  "src/booking/hold.ts",
  "  return parseHold(made.rows[0])",
  "  return await retryOnConflict(client, made, 3)",
)
run(
  "With the retry.",
  "npm test -- --run test/hold.test.ts test/transfer.test.ts",
  testRun(["hold", "transfer"], helped),
  true,
)
user(
  "No, no retries in there, that only hides it. The lock belongs in the database: there is a helper for advisory locks in src/db/locks.ts, use that one, keyed by sailing and seat.",
)
read(
  "The helper.",
  "src/db/locks.ts",
  sourceFile(
    "lock",
    ["take", "try", "drop", "watch"],
    [
      "",
      "/** Run with the advisory lock of these keys; it ends with the transaction. Keys are hashed to 64 bits. */",
      "export async function withLock<Value>(client: Client, keys: readonly string[], work: () => Promise<Value>): Promise<Value> {",
      '  await client.query(`select pg_advisory_xact_lock($1)`, [hash64(keys.join(":"))])',
      "  return await work()",
      "}",
    ],
  ),
)
edit(
  "Retry out, lock in.",
  "src/booking/hold.ts",
  "  return await retryOnConflict(client, made, 3)",
  "  return await withLock(client, [sailingId, seat], () => placeHold(client, sailingId, seat, by))",
)
run(
  "Again.",
  "npm test -- --run",
  testRun(suites, [
    [
      "transfer: moves a group while a kiosk sells",
      "deadlock detected: process 4711 waits for ShareLock on transaction 88213, limit 1500 ms",
    ],
  ]),
  true,
)
assistant(
  "The race is closed, but a transfer takes the locks of its seats in the order of the request, and a kiosk in the order of the map, so the two can wait for each other.",
)
read("The transfer.", "src/booking/transfer.ts", sourceFile("transfer", ["plan", "start", "finish", "cancel", "undo"]))
round(
  "Who else takes more than one seat.",
  "grep",
  { pattern: "for \\(const seat of", path: "src" },
  searchHits("withSeats"),
)
edit(
  "Seats are locked in the order of their names, everywhere.",
  "src/booking/transfer.ts",
  "for (const seat of seats)",
  "for (const seat of [...seats].sort())",
)
round(
  "The order in a file of its own, so that nobody has to remember it.",
  "edit_file",
  {
    path: "src/booking/lock-order.ts",
    before: "",
    after: sourceLines("order", ["sort", "lock", "check", "unlock"]).join("\n"),
  },
  "Created src/booking/lock-order.ts.",
)
round(
  "And its test.",
  "edit_file",
  {
    path: "test/lock-order.test.ts",
    before: "",
    after: sourceLines("group", ["seat", "lock", "move", "free"]).join("\n"),
  },
  "Created test/lock-order.test.ts.",
)
run("All tests.", "npm test -- --run", testRun(suites, []))
user(
  "Good. One rule for the rest of this: never run a migration against staging or production yourself, print the command and I will run it. And the hold time stays at 600 seconds, legal signed that off.",
)
todo("Noted. The list now:", [
  ["Find where a hold is placed", "completed"],
  ["Reproduce the double hold in a test", "completed"],
  ["Fix it without changing the public functions", "completed"],
  ["Unique index as a second line of defence", "in_progress"],
  ["Load test with 20000 holds", "pending"],
  ["Release note for operations", "pending"],
])
read(
  "The migrations so far.",
  "src/db/migrations.ts",
  sourceFile("migration", ["plan", "apply", "revert", "list", "verify"]),
)
round(
  "The new one.",
  "edit_file",
  {
    path: "migrations/0047_one_hold_per_seat.sql",
    before: "",
    after: "create unique index concurrently one_hold_per_seat on holds (sailing_id, seat) where released_at is null;",
  },
  "Created migrations/0047_one_hold_per_seat.sql.",
)
run(
  "Against the local database.",
  "npm run migrate -- --database local",
  "0045 applied before\n0046 applied before\n0047_one_hold_per_seat applied in 412 ms\nrows in holds: 1,204,518\nduplicates removed: 0",
)
run(
  "The load test.",
  "npm run load -- --holds 20000 --clients 64",
  `${serviceLog(40).replaceAll("WARN  booking hold-conflict", "INFO  booking hold-refused")}\nholds asked 20000\nholds placed 1440\ndouble holds 0\np50 6 ms\np95 31 ms\np99 88 ms`,
)
read(
  "The waitlist reads holds too; does the index disturb it?",
  "src/waitlist/waitlist.ts",
  sourceFile("entry", ["add", "offer", "accept", "decline", "expire"]),
)
run(
  "Types and lint.",
  "npm run build && npm run lint",
  "src/waitlist/waitlist.ts:88:7 warning  'offered' is never used\n0 errors, 1 warning",
)
edit("The unused name goes.", "src/waitlist/waitlist.ts", "  const offered = 0\n", "")
run("Everything once more.", "npm test -- --run && npm run build", `${testRun(suites, [])}\nbuild: 214 files in 3.1 s`)
run(
  "And the commit.",
  "git commit -am 'FERRY-2291 Lock a seat while it is held'",
  "[fix/ferry-2291 9f3c2ab] FERRY-2291 Lock a seat while it is held\n 5 files changed, 61 insertions(+), 19 deletions(-)",
)
assistant(
  "Done and committed as 9f3c2ab: seats are locked in the database while they are held, in one order everywhere, and migration 0047 adds a unique index. 20000 holds by 64 clients gave no double hold; p95 is 31 ms. To run on staging, when you are ready: npm run migrate -- --database staging --only 0047. Open: the release note for operations.",
)
user(
  "Thanks. Now write the release note for operations: what changes for them, the migration command, how to roll back, what to watch for in the first hour. No names of customers.",
)

const tool = (name: string, description: string, ...names: readonly string[]): Block => ({
  name,
  description,
  input_schema: {
    type: "object",
    properties: Object.fromEntries(names.map((key) => [key, { type: "string" }])),
    required: names,
  },
})

const body = {
  model: "claude-sonnet-4-5",
  max_tokens: 8000,
  system: [
    text(
      "You are a coding agent in the repository of a ferry company. You read and change code, run commands, and say briefly what you do and why.",
    ),
    {
      ...text(
        "Standing rules\n- Never push to main.\n- Never print a passenger's name, e-mail or card number.\n- Ask before you delete a file that you did not create.\n- Run the tests before you say that something works.",
      ),
      cache_control: { type: "ephemeral" },
    },
  ],
  tools: [
    tool("read_file", "Read a file of the repository, with line numbers.", "path"),
    tool("grep", "Search the repository for a regular expression.", "pattern", "path"),
    tool("run", "Run a shell command in the repository.", "command"),
    tool("edit_file", "Replace a text in a file, or create the file.", "path", "before", "after"),
    {
      name: "todo_write",
      description: "Keep the list of what has to be done.",
      input_schema: {
        type: "object",
        properties: { todos: { type: "array", items: { type: "object" } } },
        required: ["todos"],
      },
    },
  ],
  messages,
}

writeFileSync(resolve(import.meta.dirname, "sample-session.json"), `${JSON.stringify(body, null, 2)}\n`)
