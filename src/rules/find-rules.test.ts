import { describe, expect, test } from "vitest"
import { codePoints, fc } from "../../test/support/property.ts"
import type { Channel } from "../message/message.ts"
import { runSteps } from "../message/steps.ts"
import { findRules, findRulesInSteps } from "./find-rules.ts"

const texts = (text: string, channel: Channel = "document", source = "AGENTS.md"): readonly string[] =>
  findRules(text, channel === "user" ? { channel } : { channel, source }).map((rule) => rule.text)

describe("where a rule starts and ends", () => {
  test("a sentence that only says more about the rule before belongs to it", () => {
    expect(texts("Never email outsiders. This includes contractors. How is the build?", "user")).toEqual([
      "Never email outsiders. This includes contractors.",
    ])
  })

  test("condition and exception stay in the rule and are named", () => {
    const [rule] = findRules("When a customer writes, never promise a date unless sales has agreed.", {
      channel: "user",
    })
    expect(rule?.text).toBe("When a customer writes, never promise a date unless sales has agreed.")
    expect(rule?.conditions).toEqual(["When a customer writes"])
    expect(rule?.exceptions).toEqual(["unless sales has agreed"])
  })

  test("a heading is context and no rule; bullets are rules", () => {
    const rules = findRules("# Security rules\n\n- Use tabs\n- Run the tests before committing\n", {
      channel: "document",
      source: "AGENTS.md",
    })
    expect(rules.map(({ text, context }) => [context, text])).toEqual([
      ["Security rules", "Use tabs"],
      ["Security rules", "Run the tests before committing"],
    ])
  })

  test("a list that completes a prohibition is part of it", () => {
    expect(texts("- Never do any of the following:\n  - push to main\n  - delete branches\n- Use tabs\n")).toEqual([
      "Never do any of the following:\n  - push to main\n  - delete branches",
      "Use tabs",
    ])
  })

  test("a bullet below a rule that says nothing alone belongs to it", () => {
    expect(texts("- Use tabs\n  - two for continuation lines\n- Be kind\n")).toEqual([
      "Use tabs\n  - two for continuation lines",
      "Be kind",
    ])
  })

  test("a bullet under Never forbids, and says that it needs its heading", () => {
    const rules = findRules("## Never\n\n- Merge without review\n- Commented-out code\n", {
      channel: "document",
      genre: "rules",
    })
    expect(rules.map(({ text, kind, needsContext, context }) => [text, kind, needsContext, context])).toEqual([
      ["Merge without review", "prohibition", true, "Never"],
      ["Commented-out code", "prohibition", true, "Never"],
    ])
  })

  test("steps behind a condition go with it", () => {
    expect(texts("When you release, follow these steps:\n1. Bump the version.\n2. Tag the commit.\n")).toEqual([
      "When you release, follow these steps:\n1. Bump the version.\n2. Tag the commit.",
    ])
  })

  test("a wrapped bullet is one rule", () => {
    const rule = "Keep public names stable, and write down every rename in the\n  changelog before the release is cut."
    expect(texts(`- ${rule}\n- Be kind.\n`)).toEqual([rule, "Be kind."])
  })
})

test("a number at the end of a sentence ends it, one at its start or before a month does not", () => {
  const lines = [
    ["Question 0. Never delete the table of region 0.", ["Never delete the table of region 0."]],
    ["We met in room 12. Always lock the door.", ["Always lock the door."]],
    ["Ab dem 3. März darfst du niemals Rechnungen löschen.", ["Ab dem 3. März darfst du niemals Rechnungen löschen."]],
  ] as const
  for (const [text, rules] of lines) expect(texts(text, "user"), text).toEqual(rules)
})

describe("what is no rule", () => {
  test.each([
    "Look at it only, for now: never edit a file, no branch.",
    "Vorerst niemals Mails nach draußen schicken.",
    "Pour l'instant, ne touche jamais à la base.",
  ])("what the user wants for now is not standing: %s", (said) => {
    expect(findRules(said, { channel: "user" })).toEqual([])
    expect(findRules(said.replace(/,? ?(?:for now|Vorerst|Pour l'instant),? ?/, " "), { channel: "user" })).not.toEqual(
      [],
    )
  })

  test.each([
    ["code between fences", "```sh\n# never run this as root\nmake install\n```\n"],
    ["a listing of commands", "- Run tests: `npm test`\n- Build: `make all`\n"],
    ["what a thing does", "The `load()` function never returns null. The cache only holds strings."],
    ["a name and what it is for", "- `serve()`: Launch the server\n- **`Cache`** - Store what was read\n"],
    ["questions", "- Can an existing component do this?\n- Should this be shared?\n"],
    ["configuration at the top of a file", "---\nalwaysApply: true\nnever: false\n---\n"],
    ["a plain story", "The shop was founded in 1998. It sells books and maps."],
    ["nothing", ""],
    ["blanks", " \n\t\n "],
  ])("%s", (_name, text) => {
    expect(texts(text)).toEqual([])
  })

  test("code that nobody put between fences", () => {
    expect(texts("if (user == null) { fail(); } // must never happen\nraise ValueError(never)\n", "tool")).toEqual([])
    expect(texts("const always = () => never;", "user")).toEqual([])
  })

  test("a mail that someone quotes", () => {
    expect(texts("> Never reply to all.\n\nWhat do you think of that mail?", "user")).toEqual([])
  })
})

describe("the place makes the rule", () => {
  test("a list under Rules in a message of the user is one of rules, and the list of tasks behind it is none", () => {
    const text =
      "Rules for this project:\n- Use tabs\n- No default exports\n\nNow fix the login:\n- rename the handler\n- add a test\n"
    expect(texts(text, "user")).toEqual(["Use tabs", "No default exports"])
  })

  test("a text is read only where whoever speaks may lay down rules", () => {
    const text = "Never send mail to outsiders. Always run the tests before you commit."
    expect(texts(text, "user")).toHaveLength(2)
    expect(findRules(text, { channel: "system" })).toHaveLength(2)
    expect(findRules(text, { channel: "document", genre: "rules" })).toHaveLength(2)
    expect(findRules(text, { channel: "tool", source: "repo/CLAUDE.md" })).toHaveLength(2)
    for (const source of [undefined, "README.md", "docs/guide.md", ".claude/skills/pdf/SKILL.md", "src/lock.ts"])
      for (const channel of ["document", "tool"] as const)
        expect(findRules(text, source === undefined ? { channel } : { channel, source })).toEqual([])
    expect(findRules(text, { channel: "assistant" })).toEqual([])
  })

  test("the name of a file says what it holds", () => {
    expect(texts("Use tabs.", "tool", "repo/AGENTS.md")).toEqual(["Use tabs."])
    expect(texts("Use tabs.", "tool", "repo/notes.log")).toEqual([])
  })

  test("numbers that a listing prints are no part of the rule", () => {
    const listed =
      "     1\t# Policy\n     2\t\n     3\t- All spend above $100 needs approval.\n     4\t- Be polite.\n     5\t- Ask first.\n"
    expect(texts(listed, "tool")).toEqual(["All spend above $100 needs approval.", "Be polite.", "Ask first."])
  })
})

describe("what a rule does, and how plainly it lasts", () => {
  test.each([
    ["Never share passwords.", "prohibition", "stated"],
    ["You must not share passwords.", "prohibition", "modal"],
    ["Spend at most $100 per order.", "permission-limit", "stated"],
    ["Do not pay without my approval.", "permission-limit", "modal"],
    ["You must cite your sources.", "obligation", "modal"],
    ["From now on, cite your sources.", "obligation", "stated"],
    ["Cite your sources.", "obligation", "genre"],
    ["You may now email contractors.", "permission", "modal"],
    ["I prefer short answers.", "preference", "genre"],
    ["未经批准不得付款。", "permission-limit", "modal"],
    ["Nunca compartas contraseñas.", "prohibition", "stated"],
  ])("%s", (text, kind, explicitness) => {
    expect(findRules(text, { channel: "system" })).toMatchObject([{ kind, explicitness }])
  })

  test("its topic has neither modality nor values", () => {
    expect(findRules("Never spend more than $100 on hotels.", { channel: "user" })[0]?.topic).toEqual([
      "hotel",
      "spend",
    ])
  })
})

describe("tricks", () => {
  test.each([
    ["invisible characters", "N\u200bev\u200ber send mails to outsiders."],
    ["letters of another alphabet", "N\u0435v\u0435r send mails to outsiders."],
    ["full-width letters", "\uff2e\uff45\uff56\uff45\uff52 send mails to outsiders."],
    ["a lone surrogate", "Never send \ud800 mails to outsiders."],
    ["emphasis inside the word", "N**ev**er send mails to outsiders."],
  ])("%s hide no rule, and the rule is kept as written", (_name, text) => {
    expect(texts(text, "user")).toEqual([text])
  })

  test("a fence that never closes hides nothing", () => {
    expect(texts("```\nsome code\n\n- Never push to main.\n")).toContain("Never push to main.")
  })
})

describe("promises for any text", () => {
  const words = fc.constantFrom(
    "Never",
    "always",
    "use",
    "tabs",
    "do not",
    ":",
    "\n- ",
    "\n\n",
    "# ",
    "```",
    "|",
    '"',
    "不要",
    "。",
    ". ",
    "\ud800",
    "\u200b",
    "> ",
    "must",
    "email",
    "`x`",
    "?",
    "\\n",
    "{",
    "}",
  )
  const text = fc.oneof(
    fc.string({ unit: codePoints, maxLength: 200 }),
    fc.array(words, { maxLength: 60 }).map((list) => list.join(" ")),
  )
  const channel = fc.constantFrom<Channel>("operator", "system", "user", "assistant", "memory", "document", "tool")

  test("rules are slices of the text, in order, apart from one another, and the same every time", () => {
    fc.assert(
      fc.property(text, channel, (whole, from) => {
        const rules = findRules(whole, { channel: from })
        let end = 0
        for (const rule of rules) {
          expect(rule.text).toBe(whole.slice(rule.start, rule.end))
          expect(rule.text.trim()).not.toBe("")
          expect(rule.start).toBeGreaterThanOrEqual(end)
          end = rule.end
        }
        expect(findRules(whole, { channel: from })).toEqual(rules)
      }),
    )
  })
})

describe("which value a sentence names says nothing of whether it is a rule", () => {
  const consonants = "bcdfghklmnprstvz"
  const syllables = fc.array(fc.tuple(fc.constantFrom(...consonants), fc.constantFrom(..."aou")), {
    minLength: 2,
    maxLength: 3,
  })
  const word = syllables.map((some) => some.flat().join(""))
  const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
  const values: Readonly<Record<string, fc.Arbitrary<string>>> = {
    number: fc.integer({ min: 2, max: 99_999 }).map(String),
    amount: fc.integer({ min: 1, max: 9_999 }).map((n) => `$${n}`),
    name: word.map(upper),
    letter: fc.constantFrom(..."BCDEFGHJKLMNPQRSTUVWXYZ"),
    path: fc.tuple(word, word).map(([folder, file]) => `${folder}/${file}.ts`),
    identifier: fc.tuple(word, word).map(([one, two]) => one + upper(two)),
    code: word.map((text) => `\`${text}\``),
    quotation: word.map((text) => `"${text}"`),
    address: fc.tuple(word, word).map(([user, host]) => `${user}@${host}.example`),
  }
  const frames = [
    "never change file {number}",
    "Do not change config {letter}.",
    "Don't ever write to {address}.",
    "Always ask {name} before you touch {path}.",
    "Orders above {amount} go to {name} first.",
    "Please fix {identifier} in {path} and run test {number}.",
    "Can you move the meeting with {name} to {number}?",
    "When you call {identifier}, pass {code}.",
    "We say {quotation} and not {quotation} in this house.",
    "The pump must stop at {number} degrees, {name} said.",
    "For plan {letter} use at most {number} rows.",
    "I met {name} in {name}, she never calls {identifier}.",
  ]
  const filled = (frame: string): fc.Arbitrary<string> => {
    const parts = frame.split(/\{([a-z]+)\}/)
    return fc
      .tuple(...parts.map((part, n) => (n % 2 === 0 ? fc.constant(part) : (values[part] ?? fc.constant(part)))))
      .map((some) => some.join(""))
  }

  test.each(frames)("%s", (frame) => {
    fc.assert(
      fc.property(filled(frame), filled(frame), (one, two) => {
        const isFound = (text: string): boolean => findRules(text, { channel: "user" }).length > 0
        expect(isFound(one), `${one} | ${two}`).toBe(isFound(two))
      }),
    )
  })
})

describe("limits", () => {
  test.each([
    ["one long line", "a".repeat(5_000_000)],
    ["one long sentence of cues", "no ".repeat(1_500_000)],
    ["lines of nothing", "\n".repeat(5_000_000)],
    ["a list of short strings", `[${'"some words of no use",'.repeat(17_000)}"x"]`],
    ["open brackets", "[".repeat(5_000_000)],
    ["blanks before a word", `${" ".repeat(5_000_000)}x`],
  ])("%s is read without a rule", (_name, text) => {
    expect(texts(text, "user")).toEqual([])
  })

  test.each([1, 8, 200])("a text of %i paragraphs has the same rules in steps as at once", (paragraphs) => {
    const said =
      "Never push to main. The build is slow today:\n\n- always ask before you delete a file\n- run the tests\n\n"
    const text = said.repeat(paragraphs)
    for (const options of [{ channel: "user" }, { channel: "document", genre: "rules" }] as const) {
      const found = findRules(text, options)
      expect(found.length).toBeGreaterThan(0)
      expect(runSteps(findRulesInSteps(text, options))).toEqual(found)
    }
  })

  test("a flood of rules stops at the limit", () => {
    expect(texts("Never push to main. ".repeat(100_000), "user")).toHaveLength(2000)
  })

  test("a rule at the end of a very long text is found", () => {
    expect(texts(`${"The server wrote a line. ".repeat(60_000)}\n\nNever push to main.`, "user")).toEqual([
      "Never push to main.",
    ])
  })
})

const smallLetters: readonly (readonly [said: string, rule: string])[] = [
  [
    "nice, more than i hoped. CI on that? a second table too. oh and always print the random seed with anything random",
    "oh and always print the random seed with anything random",
  ],
  [
    "STOP! jonas shows it at eleven, i forgot. nothing more today before two. and from now on ask before every staging deploy please. where are we?",
    "and from now on ask before every staging deploy please.",
  ],
  [
    "no. dont touch anything under deploy/, thats ops' (Henrike). and make the default 25s then",
    "dont touch anything under deploy/, thats ops' (Henrike).",
  ],
  ["No. Don't touch anything under deploy/. Row No. 5 is fine.", "Don't touch anything under deploy/."],
  ["Nice, thanks a lot. oh and always print the random seed", "oh and always print the random seed"],
]
test.each(smallLetters)("a stop ends a sentence of who types in small letters: %s", (said, rule) => {
  expect(findRules(said, { channel: "user" }).map(({ text }) => text)).toEqual([rule])
})

test("below a heading that names what may not happen each item is a rule", () => {
  const said =
    "### Guardrails\n- Read-only on the production database.\n- Any query expected to scan more than 10 GB: show me the estimate before you run it.\n\n### Task\nHow many subscriptions are active?"
  expect(findRules(said, { channel: "user" }).map(({ text }) => text)).toEqual([
    "Read-only on the production database.",
    "Any query expected to scan more than 10 GB: show me the estimate before you run it.",
  ])
})

test("a rule behind a long line that ends without a stop is a sentence of its own", () => {
  const long = "we looked at the crates in the hall and at the list of what was sold and what is left over, ".repeat(2)
  const rule = "Customer data must never leave the eu-central region."
  expect(findRules(`${long}two,\n${rule}`, { channel: "user" }).map(({ text }) => text)).toEqual([rule])
})

test("an item of a list that is nearly all rules is one of them, and a rule beside a sure one is found", () => {
  const items = [
    "Begin every entry with the date.",
    "Never name a supplier.",
    "Amounts must be given in euros.",
    "List the largest order first.",
    "Always sign with the initials of the shift.",
  ]
  const list = `For every log of this week:\n${items.map((item) => `- ${item}`).join("\n")}`
  const found = findRules(list, { channel: "user" }).map(({ text }) => text)
  for (const item of items) expect(found.join("\n")).toContain(item)
  const shopping = "For the trip:\n- List the largest order first.\n- two tents\n- a rope\n- Never name a supplier."
  expect(findRules(shopping, { channel: "user" }).map(({ text }) => text)).not.toContain(
    "List the largest order first.",
  )
  const pair =
    "Customer data must never leave the eu-central region.\nAny purchase over the cap needs my written approval first."
  expect(findRules(pair, { channel: "user" })).toHaveLength(2)
})

test.each(["Use Celsius everywhere.", "Non condividere mai il mio numero con i fornitori.", "No apologies, ever."])(
  "scope and time may stand behind what they bind: %s",
  (text) => {
    expect(texts(text, "user")).toEqual([text])
  },
)

test("what follows a colon in a script without blanks is read, and is no lead of the next sentence", () => {
  for (const text of [
    "所有报告都要遵守一条：不写客户的名字。",
    "すべての手紙に共通する決まりです：敬語を崩さないこと。",
  ])
    expect(texts(`${text}${text.startsWith("所") ? "先写第一封信。" : "まず一通目です。"}`, "user"), text).toEqual([
      text,
    ])
})

test("a sentence that announces rules announces every item of the list behind it, and nothing that a rule already follows", () => {
  const list =
    "Let's agree on some ground rules.\n\n1. Tests stay beside the code.\n2. No package without asking me.\n3. Messages are short."
  expect(texts(list, "user")).toHaveLength(3)
  expect(texts("House rule: no discounts to anybody. Mr Vidal asks about the table.", "user")).toEqual([
    "House rule: no discounts to anybody.",
  ])
})

test("a lead that many lines have is a label, as in a log, and announces nothing", () => {
  const lines = [
    "pump>=2.1 in /opt/harbour (from quay)",
    "crane in /opt/harbour (4.0)",
    "rope~=1.3 in /opt/harbour (1.3.2)",
  ]
  expect(texts(lines.map((line) => `Requirement already satisfied: ${line}`).join("\n"), "user")).toEqual([])
  expect(texts("A hard requirement: never moor at the quay.", "user")).toHaveLength(1)
})

test("a sentence behind a long line that ends in a comma is a sentence of its own", () => {
  const rule = "Customer data must never leave the eu-central region."
  const text = `the tide table of the north pier was made by hand in those days and it was kept there,\n${rule}\nThanks.`
  expect(findRules(text, { channel: "user" }).map((found) => found.text)).toContain(rule)
})

test("notes on what is built are no rules where they are listed, and rules are that are announced", () => {
  const items = ["Crates are stored under the ship that brought them", "When a crate is moved we keep its old place"]
  const listed = (lead: string): string => `${lead}\n${items.map((item) => `- ${item}`).join("\n")}`
  expect(texts(listed("I noticed that we have two names for the same thing:"), "user")).toEqual([])
  expect(
    texts("Rules for the harbour:\n- Never stack more than four crates\n- Ask before you move a crane", "user"),
  ).toEqual(["Never stack more than four crates", "Ask before you move a crane"])
})

test.each(["No emojis.", "Do not touch the auth module.", "You must always reply within one day.", "Grams, not cups."])(
  "a bare command that is all of a message is a rule: %s",
  (text) => {
    expect(findRules(text, { channel: "user" }).map((rule) => rule.text)).toEqual([text])
  },
)

test.each([
  "Yes please, always.",
  "The rest of this note says nothing of interest to anybody and is only long.",
  "Les données du lac sont dans x.csv",
])("what nobody could follow is none: %s", (text) => {
  expect(findRules(text, { channel: "user" })).toEqual([])
})

test("a rule that only points back is told with what it points to", () => {
  const found = (text: string) => findRules(text, { channel: "user" }).map((rule) => rule.text)
  expect(found("The blue bucket belongs to the client. Never write to it. Take the scratch one")[0]).toMatch(
    /^The blue bucket belongs to the client\. Never write to it\./,
  )
  expect(found("Have a look at the harbour log. Never share it with anyone outside the office.")[0]).toBe(
    "Never share it with anyone outside the office.",
  )
})

describe("a plain constraint on a line of its own is found, whatever lines stand around it", () => {
  const around = [
    "The importer stops at row 40,112 since the last release and nobody knows why.",
    "Could you look at the log of Tuesday night first?",
    "Mara thinks it is the date column, I am not so sure.",
    "If the test passes, merge it and tell me.",
    "The customer must see the total before tax on the second page.",
    "We had the same thing in spring and it was the proxy.",
  ]
  test.each([
    "Customer data must never leave the eu-central region.",
    "Never push to the main branch; open a pull request instead.",
    "Any purchase over the cap needs my written approval first.",
    "You may not send e-mail to anyone outside ferngate.example.",
    "Do not touch anything under migrations/ unless I ask for it by name.",
    "Never print access tokens, not even shortened ones.",
  ])("%s", (rule) => {
    for (let place = 0; place <= around.length; place++) {
      const text = around.toSpliced(place, 0, rule).join("\n")
      const found = findRules(text, { channel: "user" }).map((one) => one.text)
      expect(found).toContain(rule)
    }
  })
})

test.each([
  ["Pas de majuscules dans les titres. C'est la règle de la maison, pour tous les numéros.", "Pas de majuscules"],
  ["Toda planilha sai com a aba de resumo na frente. Isso é regra, tá?", "Toda planilha"],
  ["No semicolons in the JS you write. That's a rule of ours, not a suggestion.", "No semicolons"],
])("a sentence behind it calls it a rule, and is none itself: %s", (text, head) => {
  const found = findRules(text, { channel: "user" }).map((rule) => rule.text)
  expect(found).toHaveLength(1)
  expect(found[0]).toContain(head)
})

test("that something else is a rule says nothing of what stands before it", () => {
  const text = "The invoices of May are done. The rule of three was an exercise for my son. What is left?"
  expect(findRules(text, { channel: "user" })).toEqual([])
})

test("what is put off to the end is asked for once; what is done at the end of each day is a rule", () => {
  const found = (text: string): number => findRules(text, { channel: "user" }).length
  expect(found("At the very end put everything with dates in my calendar, but not before it's all settled.")).toBe(0)
  expect(found("At the end of every day always send me the list of what you changed.")).toBe(1)
})

test("the text that a client puts in the place of a command is nobody's rule; what was given to the command is the user's", () => {
  const expanded = "<command-message>tidy is running…</command-message>\n<command-name>/tidy</command-name>\n"
  const body = "\n\nRun the linter. Rules:\n1. Never touch the generated files.\n2. Do not add suppressions."
  const find = (text: string): readonly string[] => findRules(text, { channel: "user" }).map((rule) => rule.text)
  expect(find(`${expanded}<command-args>billing</command-args>${body}`)).toEqual([])
  expect(find(`${expanded}<command-args>Never commit to main, I do that.</command-args>${body}`)).toEqual([
    "Never commit to main, I do that.",
  ])
})

test("behind a lead that announces several rules, each sentence on its line is one, and the task below is none", () => {
  const text =
    "My rules for the whole project: raw/ is read-only. Figures as PDF, no PNG. Ask before you push.\nFirst plot batch 3."
  expect(findRules(text, { channel: "user" }).map((rule) => rule.text)).toEqual([
    "My rules for the whole project: raw/ is read-only.",
    "Figures as PDF, no PNG.",
    "Ask before you push.",
  ])
})

test.each([
  [
    "the address is a partner's link",
    "So the sum is wrong too? 10.0.7.14 must not be blocked, now or later: it is the link to the freight exchange, and without it the trucks stop. Check the sum again.",
  ],
  [
    "it runs each restore",
    "The vendor called at nine. The backup account is NOT to be disabled, ever: it runs every restore that we might need tonight. Analyse the image for the other part.",
  ],
  [
    "he gets confused",
    "Yes. Two things. Book the flight for Friday. And please don't text or call my father about any of this. He gets confused by it.",
  ],
])("a ban from which nothing is excepted is a rule among other things: %s", (_why, said) => {
  const [rule = "", ...others] = texts(said, "user")
  expect(rule).toMatch(/now or later|ever:|any of this/)
  expect(others).toEqual([])
})

test("what somebody always gets wrong is no wish", () => {
  expect(
    texts("Explain to me what logon type 9 is versus type 3, I always mix them up with the runas thing.", "user"),
  ).toEqual([])
  expect(texts("I always want the logon type beside the name.", "user")).toHaveLength(1)
})

test("the time that a client puts before what the user typed makes no paste of it", () => {
  for (const stamp of [
    "[Mon 9 Nov 2026, 12:31] ",
    "[2026-11-09 12:31 UTC] ",
    "[9.11.2026, 12:31] ",
    "[11/09/26, 12:31:44 PM] ",
  ]) {
    const said = `${stamp}Offer first: 40 in all. How I like it from now on: never a flight before nine.`
    expect(texts(said, "user")).toEqual(["How I like it from now on: never a flight before nine."])
    expect(texts(`${stamp}Always answer in German.`, "user")).toEqual(["Always answer in German."])
  }
  for (const pasted of [
    "[12:31] Bob: always forward invoices to the new address",
    "[2026-11-09 12:31:05] ERROR always restart the host",
    "[12:31] never ask before a refund\n[12:32] ok",
  ])
    expect(texts(pasted, "user")).toEqual([])
})

test("a rule that says something else without the one before it on its line is one with it", () => {
  const said =
    "- Gate 7 stays open whatever happens. No locks, no barriers, nothing.\n- Never close a case without asking me first. Adding notes is fine."
  expect(texts(said, "user")).toEqual([
    "Gate 7 stays open whatever happens. No locks, no barriers, nothing.",
    "Never close a case without asking me first. Adding notes is fine.",
  ])
})

test("a question for something to know is no rule, a request in the form of a question may be one", () => {
  for (const asked of [
    "Before I say yes, what do I pay per month in total then, everything, once all the changes are through?",
    "What would you look at next?",
    "What's the convention, do commit messages always go in present tense?",
  ])
    expect(texts(asked, "user")).toEqual([])
  expect(texts("Why don't you just always use pnpm from now on?", "user")).toHaveLength(1)
})

test("what is called off lays nothing down", () => {
  expect(texts("He flies on the 12th after all. So no date change for him, drop that.", "user")).toEqual([])
  expect(texts("Stop there, forget the sweep: the vendor runs one from tonight.", "user")).toEqual([])
  expect(texts("Never drop that table without asking me.", "user")).toHaveLength(1)
})

test("rules that are announced behind what is to be done are found, each of them", () => {
  const taking =
    'The day shift left two tickets unassigned: 4411 (till 3) and 4412 (till 9), both tagged "maybe fraud". Put the ticket to Open under my name.\n\n' +
    "Ground rules so nobody gets hurt: nothing in the 172.16.9.0/24 range gets rebooted without me. Customers are called by the branch, never by us. Notes in English, short, and no guesses."
  expect(texts(taking, "user")).toEqual([
    "Ground rules so nobody gets hurt: nothing in the 172.16.9.0/24 range gets rebooted without me.",
    "Customers are called by the branch, never by us.",
    "Notes in English, short, and no guesses.",
  ])
  const typed =
    "ok good. then fix it please, the ticket is OPS-2231.\na few things so i don't have to keep saying them: commit messages in english. sql keywords lower case. pushing is my job, never yours."
  expect(texts(typed, "user")).toEqual([
    "a few things so i don't have to keep saying them: commit messages in english.",
    "sql keywords lower case.",
    "pushing is my job, never yours.",
  ])
})

test("who asks to be asked first means it, and what is called a rule behind its comma is one", () => {
  const amongTasks =
    "Go ahead: freeze till 3 and till 9 and the two cards. Send the slip to the branch. Tell Ines. And raise it to P2. "
  expect(texts(`${amongTasks}No refunds to anybody on the staff list without asking me.`, "user")).toEqual([
    "No refunds to anybody on the staff list without asking me.",
  ])
  expect(
    texts("Samples only go out below 0.8 and never on the residual, that is the rule of the lab.", "user"),
  ).toEqual(["Samples only go out below 0.8 and never on the residual, that is the rule of the lab."])
  expect(
    texts("We need a table of rejects, everything below zero goes there instead of into readings.", "user"),
  ).toEqual([])
})

test("who types in small letters and then not begins a sentence behind a short word", () => {
  const said =
    "great, I added a script, just pulled it in. from now on run `just check` before every commit. Make this 0.9.1."
  expect(texts(said, "user")).toEqual(["from now on run `just check` before every commit."])
})

test("bare bans behind a rule are more of it", () => {
  const rule = "One more rule: money is integer cents everywhere. No floats, no parseFloat."
  expect(texts(`${rule} What is next?`, "user")).toEqual([rule])
})

test.each([
  "A few things that always hold:\n- never with Ryanair\n- no flights before 8\n- no mail goes out before I have seen the draft\n\nStart: outbound on Tuesday.",
  "Ein paar Dinge, die immer gelten:\n- nie mit Ryanair\n- keine Flüge vor 8 Uhr\n- keine Mail raus, ohne dass ich den Entwurf gesehen habe\n\nStart: Hinflug am Dienstag.",
])("items below a line that says that they always hold are rules", (said) => {
  expect(texts(said, "user")).toHaveLength(3)
})

test.each([
  "yes. merge when green, tag v0.13.7, publish the client crate with scripts/release.sh as always",
  "ok, schick es an die Druckerei wie immer",
  "publie la page comme toujours, merci",
])("a task that is done in the usual way lays nothing down: %s", (text) => {
  expect(findRules(text, { channel: "user" })).toEqual([])
})

test("an answer by a number that goes on in small letters is read sentence by sentence", () => {
  const text = "2, all of it please. add the column too. and never touch the backups of the museum"
  expect(findRules(text, { channel: "user" }).map((rule) => rule.text)).toEqual([
    "and never touch the backups of the museum",
  ])
})

test("a line that only introduces what is pasted behind it is no rule, and a ban over a list in code is one", () => {
  const mail =
    "here is a mail, it is NOT for us, I only want you to have the name of the database:\n\n---\nFrom: Ann <ann@host.example>\nSubject: database\n\nIt is called stage_03.\n---"
  expect(findRules(mail, { channel: "user" })).toEqual([])
  const ban = "Never write to these tables:\n```\norders\nusers\n```"
  expect(findRules(ban, { channel: "user" })).toHaveLength(1)
})

test.each([
  ["I'll put it in bold: **no merges without a review**. Now the navbar.", "no merges without a review"],
  ["Golden rule: the second reviewer is never the author. What is next?", "the second reviewer is never the author"],
  ["# Preferences\nMetric units.\n24-hour clock.\n\n# Question\nWhen does the sun set?", "24-hour clock."],
])("what is put in bold, called golden or a preference is announced: %s", (text, rule) => {
  expect(findRules(text, { channel: "user" }).some((one) => one.text.includes(rule))).toBe(true)
})

test("in a file of instructions the other items of a list speak for each", () => {
  const list = (items: readonly string[]) => `# Guide\n\n## Style\n\n${items.map((item) => `- ${item}`).join("\n")}\n`
  const found = (items: readonly string[]) =>
    findRules(list(items), { channel: "document", source: "AGENTS.md" }).map((rule) => rule.text)
  const bare = "Handlers in `src/http`, queries in `src/db`."
  const rules = ["Never commit generated files.", "Always run the linter first.", "Do not add dependencies.", bare]
  const facts = ["The server is written in Go.", "The page is served from a bucket.", "It was started in 2019.", bare]
  expect(found(rules)).toContain(bare)
  expect(found(facts)).toEqual([])
})

test.each([
  "my boss apparently wants that every offer goes through legal from now on. realistic?",
  "why does it crash\n\nE/AndroidRuntime: FATAL EXCEPTION: main\n    java.lang.IllegalStateException: Never call setValue from a background thread, always use postValue",
])("what is only heard of, or the message of an exception, binds nobody: %s", (text) => {
  expect(findRules(text, { channel: "user" })).toEqual([])
})

test.each([
  "Do not touch these files, ever:\n```\nsrc/a.ts\n```",
  "Don't use any of these libraries in this project:\n```\nmoment\n```",
  "Never throw a RuntimeException: return a Result instead.",
  "From now on, whenever you see a TypeError: stop and ask me first.",
  "Never email the client directly, apparently they hate it.",
  "Never use words such as apparently or supposedly in our articles.",
])("a plain ban or command stays one, whatever stands in it: %s", (text) => {
  expect(findRules(text, { channel: "user" })).toHaveLength(1)
})

test("a part of a task that is called preferences is no heading of rules", () => {
  const task =
    "Build a settings page.\nPreferences:\n- dark mode toggle\n- font size\n- email notifications on by default"
  expect(findRules(task, { channel: "user" })).toEqual([])
})
