import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { type Turn, text, transcript, used } from "../../../test/support/transcripts.ts"
import type { Transcript } from "../../message/message.ts"
import { scan } from "../gate/scan.ts"
import { notesOf } from "./notes.ts"

const asked = (...turns: readonly Turn[]): Transcript =>
  transcript(["user", text("Change the outbound flight please")], ...turns)

const recordsIn = (messages: Transcript): string =>
  notesOf(messages)
    .flatMap(({ kind, text: line }) => (kind === "record" ? [line] : []))
    .join("\n")

test("a record says that it was read before a change, unless what came later has all of its fields", () => {
  const read = used("get_booking", { booking_id: "QX7LM2" }, '{"booking_id":"QX7LM2","outbound":"HF204","bags":2}')
  const input = { booking_id: "QX7LM2", leg: "outbound", flight: "HF188" }
  const part = used("update_flight", input, '{"status":"changed","booking_id":"QX7LM2","flight":"HF188"}')
  const whole = used("update_flight", input, '{"booking_id":"QX7LM2","outbound":"HF188","bags":2}')
  const records = (...turns: readonly Turn[]): string => recordsIn(asked(...turns))
  expect(records(...read)).not.toContain("read before")
  expect(records(...read, ...part)).toContain("(read before update_flight)")
  expect(records(...read, ...whole)).not.toContain("read before")
  expect(records(...read, ...whole)).not.toContain("HF204")
  const again = used("get_booking", { booking_id: "QX7LM2" }, '{"booking_id":"QX7LM2","outbound":"HF188","bags":2}')
  expect(records(...read, ...part, ...again)).not.toContain("read before")
})

test("a record says how often it was changed since it was read", () => {
  const messages = asked(
    ...used("get_booking", { booking_id: "QX7LM2" }, '{"booking_id":"QX7LM2","outbound":"HF204","bags":2}'),
    ...used("update_flight", { booking_id: "QX7LM2", flight: "HF188" }, '{"status":"changed"}'),
    ...used("refund_bag", { booking_id: "QX7LM2", bags: 1 }, '{"status":"refunded"}'),
  )
  expect(recordsIn(messages)).toContain("booking QX7LM2 (read before 2 changes)")
})

test("a record out of a list for some days, and one named in a list, say that they were changed since", () => {
  const week = { from: "2026-06-08", to: "2026-06-13" }
  const listed = used("list_events", week, '[{"event_id":"ev_board9","start":"2026-06-09T14:00","room":"Hall"}]')
  const moved = used("update_event", { event_id: "ev_board9", start: "2026-06-16T14:00" }, '{"status":"ok"}')
  expect(recordsIn(asked(...listed))).toContain("event ev_board9: ")
  expect(recordsIn(asked(...listed, ...moved))).toContain("event ev_board9 (read before update_event)")
  const many = used("cancel_events", { event_ids: ["ev_board9", "ev_other"] }, '{"status":"ok"}')
  expect(recordsIn(asked(...listed, ...many))).toContain("event ev_board9 (read before cancel_events)")
})

test("what was to be written into a file is known of it only if it was, and only while it is there", () => {
  const written = (result: string, more: readonly Turn[] = []): string =>
    recordsIn(
      asked(...used("write", { path: "/srv/app/limits.ts", content: "export const maxJobs = 45" }, result), ...more),
    )
  expect(written("ok")).toContain("/srv/app/limits.ts: maxJobs=45")
  expect(written("Error: the user rejected the change")).toBe("")
  expect(written("ok", used("bash", { command: "rm limits.ts" }, "exit code 0"))).toBe("")
  expect(written("ok", used("bash", { command: "git checkout limits.ts" }, "Updated 1 path"))).toBe("")
})

test("of a patch of several files each file has what was put into it", () => {
  const patch = [
    "*** Begin Patch",
    "*** Update File: templates/secret.yaml",
    "@@",
    "+  refreshHours: 48",
    "*** Update File: Chart.yaml",
    "-version: 1.8.2",
    "+version: 1.8.3",
    "*** End Patch",
  ].join("\n")
  const unified =
    "--- a/one.env\n+++ b/one.env\n@@ -1 +1 @@\n+PORT=4101\n--- a/two.env\n+++ b/two.env\n@@ -1 +1 @@\n+PORT=4102\n"
  expect(recordsIn(asked(...used("apply_patch", { patch }, "Success"))).split("\n")).toEqual([
    "templates/secret.yaml: refreshHours=48",
    "Chart.yaml: version=1.8.3",
  ])
  expect(recordsIn(asked(...used("apply_patch", { patch: unified }, "Success"))).split("\n")).toEqual([
    "one.env: PORT=4101",
    "two.env: PORT=4102",
  ])
})

/** Sentences that steer, as `scan` finds them: [family, half, text]. */
const steering = readFileSync(new URL("../../../test/fixtures/gate/attacks.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line): string => JSON.parse(line)[2])
  .filter((said) => scan(said, { channel: "tool" }).findings.length > 0)

test("for any text in which something steers its reader, none of its values is lifted, and without it they are", () => {
  const figures = fc.record({
    attack: fc.constantFrom(...steering),
    account: fc.integer({ min: 10_000_000, max: 99_999_999 }).map((n) => `DE${n}`),
    mail: fc.integer({ min: 100, max: 999 }).map((n) => `desk${n}@mail.example`),
    form: fc.constantFrom("json", "pairs", "sentences"),
  })
  fc.assert(
    fc.property(figures, ({ attack, account, mail, form }) => {
      const answer = (note: string): string =>
        form === "json"
          ? JSON.stringify({ order_id: "W77", account, contact: mail, note })
          : form === "pairs"
            ? `order_id: W77\naccount: ${account}\ncontact: ${mail}\n${note}`
            : `The order goes to the account ${account}.\n${note}\nQuestions are answered by ${mail} at noon.`
      const told = (note: string): string =>
        notesOf(asked(...used("get_order", { order_id: "W77" }, answer(note))))
          .filter(({ channel }) => channel !== "user")
          .map(({ text: line }) => line)
          .join("\n")
      if (!scanFinds(answer(attack))) return
      expect(told(attack)).not.toContain(account)
      expect(told(attack)).not.toContain(mail)
      expect(told("It was packed by hand.")).toContain(account)
    }),
  )
})

const scanFinds = (said: string): boolean => scan(said, { channel: "tool" }).findings.length > 0

test("a line that a page prints is told with its address, and a short question to a tool is no program", () => {
  const read = used(
    "read",
    { path: "https://code.example/orca" },
    "Stars: 5149 and Forks: 534 by now\n\nconst a = (1);\nconst b = (2);\nf(a);\ng(b);\nh(a);",
  )
  expect(recordsIn(asked(...read))).toContain('code.example/orca said "Stars: 5149')
  const search = used(
    "web_search",
    { query: "reports of may 2019 in files/about/resources/ridership.pdf or elsewhere, by day" },
    "[]",
  )
  expect(recordsIn(asked(...search))).toBe("")
})

test("what the assistant is about to do states no value", () => {
  const said = (sentence: string): string => recordsIn(asked(["assistant", text(sentence)]))
  expect(said("Let's set the cursor around line 1475 of the file.")).toBe("")
  expect(said("Thought: I will decompile the function FUN_004015dc now.")).toBe("")
  expect(said("Thought: The function FUN_004015dc checks the length of its input.")).toContain("“The function")
})

test("of a file that was read only what has a number of its own is told: the rest can be read again", () => {
  const theme = used(
    "read",
    { path: "src/theme.json" },
    '{"vars": {"cyan": "#00d7ff", "accent": "#8abeb7"}, "name": "dark"}',
  )
  expect(recordsIn(asked(...theme))).toBe("")
  const order = used(
    "read",
    { path: "orders/TC-4417.json" },
    '{"order_id": "TC-4417", "customer": "C-2044", "status": "open", "lines": [{"coffee": "Huila", "price": 31.5}]}',
  )
  expect(recordsIn(asked(...order))).toContain("TC-4417")
  const bare = used("read", { path: "orders/TC-4418.json" }, '{"customer": "C-2044", "batch": "B-99182"}')
  expect(recordsIn(asked(...bare))).toContain("B-99182")
})
