import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { type Turn, text, transcript, used } from "../../../test/support/transcripts.ts"
import type { NoteKind } from "../summary/summary.ts"
import { notesOf } from "./notes.ts"

const user = (said: string): Turn => ["user", text(said)]
const assistant = (said: string): Turn => ["assistant", text(said)]

const lines = (turns: readonly Turn[], ...kinds: readonly NoteKind[]): readonly string[] =>
  notesOf(transcript(user("Repair the login page"), ...turns)).flatMap(({ kind, text: line }) =>
    kinds.includes(kind) ? [line] : [],
  )

const thoughts = (...said: readonly string[]): readonly string[] =>
  lines(
    [...said.flatMap((each) => [assistant(each), ...used("read", { path: "a.ts" }, "x")]), user("Go on")],
    "decision",
    "finding",
    "conclusion",
  )

const silly: readonly (readonly [why: string, said: string])[] = [
  ["an item of a list without its subject", "Should be small because it is always loaded."],
  ["a label without a verb", "User-initiated because chosen."],
  ["what it does next", "Now let's paste in the example since the issue has one."],
  [
    "what it looks at next, behind a reason",
    "Since the search gave nothing, I'll explore the folders to find where rules are.",
  ],
  ["the rest of a choice", "Or the order stays in graphite because it was changed twice."],
  ["what comes next, without a verb", "Now the polling version because of the 25 s default."],
  ["a step that it tells itself to do", "Delete the duplicate lines 91-94 at the end of the body."],
  ["another one, behind a word of order", "First, check where `attachQuotes` is called."],
  ["one that is named by what it does", "Setting the field 'Impact' to '2 - Medium' in the form."],
  ["that something was found, and not what", "Excellent, now I've found the issue!"],
  ["the task told again", "The task involves exploring the folder `/srv/app` since the issue is in there."],
  ["that there is much somewhere", "The root cause is that `src` contains several subdirectories of the compiler."],
  ["that something is there", "It seems that the file `fields.py` is present in the folder."],
  [
    "a blob of data",
    `The reason is in QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NTY3ODk.`,
  ],
]
test.each(silly)("%s is nothing that was decided or found", (_why, said) => {
  expect(thoughts(said)).toEqual([])
})

const worthy: readonly string[] = [
  "We decided on PostgreSQL because two gateways write at once.",
  "I'll use a queue instead of a timer so that nothing is lost.",
  "The root cause is that the session cookie has no path.",
  "Use one queue instead of two timers, because order matters here.",
  "Parsing of the 3rd column fails since it holds dates.",
  "`Store.Insert` uses `ON CONFLICT DO NOTHING` and leaves the row alone.",
  "Looking at the code, it's null when `--no-session` is given.",
]
test.each(worthy)("what was decided or found is told: %s", (said) => {
  expect(thoughts(said)).toEqual([said])
})

test("of thoughts that say nearly the same the latest is told", () => {
  const [first, second] = [
    "The issue is in how we read the total in the tooltip callback.",
    "The issue is likely in how we read the total in the tooltip callback.",
  ]
  expect(thoughts(first, second)).toEqual([second])
  expect(thoughts(first, "The issue is that the chart has no labels on its axis.")).toHaveLength(2)
})

test("that nothing is done yet holds until a file is changed", () => {
  const said = "The cause is the sort order, and nothing is fixed yet."
  const told = (...more: readonly Turn[]) =>
    lines([assistant(said), ...used("read", { path: "b.ts" }, "x"), ...more], "finding")
  expect(told(...used("read", { path: "a.ts" }, "x"))).toEqual([said])
  expect(told(...used("write", { path: "a.ts", content: "x" }, "ok"))).toEqual([])
})

test("of how things stood at that moment the last is told, and each that gives a reason", () => {
  const [still, because, last] = [
    "The problem is that `make` is still failing.",
    "The problem persists because LLVM 14 is not installed.",
    "It turns out that `make clean` did not help.",
  ]
  expect(thoughts(still, because, last)).toEqual([because, last])
})

test("of thoughts in few words that name the same figures the latest is told, and others beside it", () => {
  const [first, second] = ["The issue is about season 1977 then.", "The issue is with the season of 1977."]
  expect(thoughts(first, second)).toEqual([second])
  expect(thoughts("The issue is that port 8080 is open.", "The issue is that port 8443 is open.")).toHaveLength(2)
})

const report = (lines: readonly string[]): string => ["Here is what I know:", "```", ...lines, "```"].join("\n")

test("a report between fences is read, code between fences is not", () => {
  const found = "The root cause is that the session cookie of the login page has no path."
  const facts = [
    "Facts that I learned so far in this work",
    found,
    "The tests of the login page were not run yet today.",
  ]
  expect(thoughts(report(facts))).toContain(found)
  expect(thoughts(report(["const a = 1;", `// ${found}`, "const b = f(a);", "return b;"]))).toEqual([])
})

test("what an assistant repeats of its task is not what it found or where it stopped", () => {
  const task = "The root cause is to be found in the log of 12 May, and nothing else counts."
  const plan = report([
    task,
    "I will look for the hour at which the pump was stopped.",
    "The pump stopped at 14:05 on 12 May.",
  ])
  const told = notesOf(transcript(user(task), assistant(plan), ...used("read", { path: "a.ts" }, "x")))
  const own = told.filter(({ channel }) => channel === "assistant").map(({ text: line }) => line)
  expect(own.join("\n")).toContain("The pump stopped at 14:05")
  expect(own.join("\n")).not.toContain("nothing else counts")
})

test("what leads up to the rest of an answer is not where the work stopped", () => {
  const said =
    "I still need to solve the task I was given:\n```js\nconst task = 1\n```\nI will list the ports of the host now:\n```js\nf()\n```"
  const current = lines([assistant(said), ...used("scan", { host: "a" }, "x")], "current", "next")
  expect(current.join("\n")).not.toContain("task I was given")
})

test("for any two sentences, a conclusion tells each whole or not at all", () => {
  const sentence = fc
    .array(fc.constantFrom("alpha", "router", "timeout", "session", "42", "deploys", "ready"), {
      minLength: 5,
      maxLength: 36,
    })
    .map((words) => `The ${words.join(" ")} works.`)
    .filter((each) => each.length <= 280)
  fc.assert(
    fc.property(sentence, sentence, (one, other) => {
      const said = [assistant(`${one} ${other}`), user("Thanks, and the menu?")]
      const [told = ""] = lines(said, "current")
      expect([one, other, `${one} ${other}`]).toContain(told.replace("The user was told last: ", ""))
      const later = lines(
        [...said, assistant("The menu is fine."), user("Thanks, and the page?")],
        "conclusion",
        "finding",
      )
      expect(later).not.toEqual([])
      for (const line of later) expect([one, other, `${one} ${other}`]).toContain(line)
    }),
  )
})

test("a plan that is written as a list in JSON is told as sentences", () => {
  const plan = 'plan: ["Find the page that lists the rules.", "Read its last amendment."]\nfacts: []'
  const told = lines([assistant(plan)], "current", "next", "task")
  expect(told.join("\n")).not.toMatch(/[[\]]/)
  expect(told.join("\n")).toContain("Read its last amendment.")
})

test("that the user is to wait is not where the work stopped", () => {
  const told = lines([assistant("I have found both bookings of June. Please hold on for a moment.")], "current")
  expect(told).toEqual(["I have found both bookings of June."])
})

const answers: readonly (readonly [said: string, needsQuestion: boolean])[] = [
  ["Yes, go ahead.", true],
  ["Please take both of them, and thank you so much for your help with the whole thing.", true],
  ["I'd like to change my outbound flight from Oslo to Bergen to a nonstop flight, if possible.", false],
  ["Book flight HF204 for me.", false],
]
test.each(answers)("the words %j keep what they answer: %s", (said, needsQuestion) => {
  const told = lines([assistant("I found your booking. What would you like to change?"), user(said)], "current")
  expect(told.some((line) => line.startsWith("The user's latest words answer"))).toBe(needsQuestion)
})

test("the headings of an answer are nothing to choose from", () => {
  const parts =
    "This is what it takes:\n\n1. **Upgrade the cabin:**\n- $120\n\n2. **Add bags:**\n- $50\n\nShall I go on?"
  const turns = [
    assistant(parts),
    user("Yes, do the upgrade and the bags, and charge the card on file for both please"),
  ]
  expect(lines(turns, "current").join("\n")).not.toContain("Offered")
})

test("what the user was asked to choose from is told until something is done about it", () => {
  const offer =
    "After noon there are two:\n\n1. boat B237, 13:05, $34 more\n2. boat B241, 18:40, $76 more\n\nWhich one?"
  const turns = [
    user("What sails on the 27th?"),
    assistant(offer),
    user("Are my four bags still booked?"),
    assistant("Yes, four bags. Which boat shall I take?"),
  ]
  const choice = user("ok the second one, on the same card as the first change")
  expect(lines([...turns, choice], "current").join("\n")).toContain("2. boat B241, 18:40, $76 more")
  const booked = used("book_boat", { boat: "B241" }, '{"status": "booked", "id": "R-1"}')
  const done = [...turns, choice, ...booked, assistant("Booked. Anything else?"), user("no, thanks")]
  expect(lines(done, "current").join("\n")).not.toContain("B237")
})

test("letters in the user's words are told with what they stand for, however much he says", () => {
  const offer = "Two steps need your word:\n(a) revoke token 7741920\n(b) disable svc_batch (orders stop)"
  const said =
    "(a) is fine. (b) has to wait for the closing run at ten, I will talk to Ishikawa about it and decide then."
  const told = lines(
    [assistant(offer), user(said), ...used("revoke", { id: 7741920 }, "ok"), assistant("Done.")],
    "request",
    "reply",
  )
  expect(told.at(-1)).toBe(`${said} (asked: (a) revoke token 7741920; (b) disable svc_batch (orders stop))`)
})

test("of what was offered, what the user chose by its number is told alone", () => {
  const offer = "How should commas be read?\n1. reject them\n2. accept 12,50 and 12.50\n3. by the page's language"
  const go = "2, and put the parsing into the web part, please, because nobody else needs it there for now"
  const turns: readonly Turn[] = [assistant(offer), user(go), assistant("Fine. I start with the form.")]
  expect(lines(turns, "current").join("\n")).toContain("the user chose 2. accept 12,50 and 12.50")
  const both = [
    assistant(offer),
    user("2 and 3, whatever is less work for the people who test it in the end"),
    assistant("Ok."),
  ]
  expect(lines(both, "current").join("\n")).not.toContain("the user chose")
})

test("a proposal that the user took is told until it is carried out, whatever was asked in between", () => {
  const proposal = `The best room from May 20 is at the harbour. These are the details:

- Room H17 with a balcony
- Arrival: May 20, after 15:00
- Half board: 96 francs
- Full board: 124 francs
- Parking: ${"in the street behind the house, ".repeat(12)}where it is free

The whole stay with half board comes to 288 francs. Let me know if you need further assistance!`
  const turns = [
    user("A room at the harbour for three nights"),
    assistant(proposal),
    user("Great, let's go with half board. Can you book that?"),
    assistant("I need the names of all guests and a means of payment first. Which card may I use?"),
  ]
  const told = lines([...turns, user("Ada and Ben Ito, the usual card")], "current").join("\n")
  expect(told).toMatch(/agreed to this: .*Room H17.*Half board: 96 francs.*comes to 288 francs/)
  const booked = used("book_room", { room: "H17" }, '{"status": "booked", "id": "R-1"}')
  const done = [...turns, user("Ada and Ben Ito"), ...booked, assistant("Booked. Anything else?"), user("no, thanks")]
  expect(lines(done, "current").join("\n")).not.toContain("agreed to this")
  const refused = [
    ...turns.slice(0, 2),
    user("No, not that one."),
    assistant("Which week suits you?"),
    user("Any in June"),
  ]
  expect(lines(refused, "current").join("\n")).not.toContain("agreed to this")
})

test("what the assistant stated and the user turned down is not told as it stands", () => {
  const told = (reply: string): string =>
    lines(
      [
        ...used("bash", { command: "Rscript figures.R" }, "written"),
        assistant("`outputs/fig3.pdf` is a dbRDA now: the two axes hold 12.4 % and 5.0 % of the variation."),
        user(reply),
        ...used("bash", { command: "Rscript figures.R" }, "written"),
        assistant("`outputs/fig2.pdf` predicts for a round of 14 days."),
        user("Good. Now the manuscript."),
      ],
      "record",
    ).join()
  expect(told("Fine, like that.")).toContain("dbRDA")
  const turned = told("Hmm, they will ask why. Sorry, go back to the NMDS, 129 mm wide.")
  expect(turned).not.toContain("dbRDA")
  expect(turned).toContain("14 days")
})

test("what was said with a call that the user rejected is no finding", () => {
  const rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected."
  const edit = { file_path: "a.ts", old_string: "1", new_string: "10" }
  const said = text("The timeout of 1 s is too short for the emulator, because `boot.log` shows 4 s.")
  const told = (output: string): string =>
    lines(
      used("Edit", edit, output).map(
        ([role, ...parts]): Turn => (role === "user" ? [role, ...parts] : [role, said, ...parts]),
      ),
      "finding",
      "decision",
    ).join()
  expect(told("The file a.ts has been updated.")).toContain("too short")
  expect(told(rejected)).not.toContain("too short")
})

test("who answers and goes on to ask for something new wants that now", () => {
  const answer =
    "At check-in is fine. My sister writes again, she has tickets for something on the evening of the 18th, so we would both come back on the 19th. What would that cost for the two of us? Evening flight, whichever is sensible."
  const notes = notesOf(
    transcript(
      user("Seat 22D for me, please, and 22E for my father."),
      ...used("assign_seats", { seat: "22D" }, '{"ok":true}'),
      assistant(
        "You have 22D and 22E. For the short flight no seats are chosen yet; shall I, or is that all right at check-in?",
      ),
      user(answer),
      ...used("search_flights", { date: "2026-06-19" }, "[]"),
    ),
  )
  const open = notes.filter(({ state }) => state === "open").map(({ text: said }) => said.slice(0, 20))
  expect(open).toEqual(["At check-in is fine."])
})
