/** The data of one report. */
export type Item = {
  readonly ticket: string
  readonly customer: string
  readonly cents: number
  readonly day: Date
  readonly isClosed: boolean
}

/** One requirement of the specification: its text, how a reader recognizes it, and how a finished report is checked for it. */
export type Clause = {
  readonly name: string
  readonly text: string
  /** If all of these match in one line, the clause can be read there. */
  readonly signs: readonly RegExp[]
  readonly holds: (report: string, items: readonly Item[]) => boolean
}

const linesOf = (report: string): readonly string[] => report.split("\n").filter((line) => /T-\d+/.test(line))

export const isoDay = (day: Date): string => day.toISOString().slice(0, 10)

const ticketsIn = (report: string): readonly string[] =>
  linesOf(report).flatMap((line) => /T-\d+/.exec(line)?.[0] ?? [])

export const clauses: readonly Clause[] = [
  {
    name: "brackets",
    text: "Begin every line about a ticket with its number in square brackets.",
    signs: [/\bnumber\b/i, /\bbrackets\b/i],
    holds: (report) => linesOf(report).every((line) => /^\[T-\d+\]/.test(line)),
  },
  {
    name: "euros",
    text: "Amounts must be given in euros with two decimals, as in 12.50 EUR.",
    signs: [/\beuros?\b|\bEUR\b/i, /\bdecimals?\b/i],
    holds: (report) => !/\$\s?\d/.test(report) && linesOf(report).every((line) => /\d\.\d{2} EUR/.test(line)),
  },
  {
    name: "dates",
    text: "Dates are always written as year, month and day with hyphens.",
    signs: [/\bdates?\b/i, /\byear\b/i],
    holds: (report) => linesOf(report).every((line) => /\d{4}-\d{2}-\d{2}/.test(line)),
  },
  {
    name: "customers",
    text: "Never name a customer; write 'the customer' instead.",
    signs: [/\bcustomers?\b/i, /\bnames?\b/i, /\bnever\b|\bnot\b/i],
    holds: (report, items) => items.every(({ customer }) => !report.includes(customer)),
  },
  {
    name: "incident",
    text: "Say 'incident' and do not use the word 'issue'.",
    signs: [/\bincident\b/i, /\bissue\b/i],
    holds: (report) => !/\bissue/i.test(report) && /\bincident/i.test(report),
  },
  {
    name: "signature",
    text: "The last line of each report must be: Checked by operations.",
    signs: [/\bchecked by operations\b/i, /\blast\b/i],
    holds: (report) => report.trimEnd().endsWith("Checked by operations."),
  },
  {
    name: "order",
    text: "List the most expensive ticket first.",
    signs: [/\bexpensive\b/i, /\bfirst\b/i],
    holds: (report, items) => {
      const cents = ticketsIn(report).map((ticket) => items.find((item) => item.ticket === ticket)?.cents ?? 0)
      return cents.every((value, n) => n === 0 || value <= (cents[n - 1] ?? 0))
    },
  },
  {
    name: "title",
    text: "The title must be in capital letters.",
    signs: [/\btitle\b/i, /\bcapital/i],
    holds: (report) => {
      const title = report.split("\n")[0] ?? ""
      return title !== "" && title === title.toUpperCase()
    },
  },
  {
    name: "closed",
    text: "Leave closed tickets out of the report.",
    signs: [/\bclosed\b/i, /\bleave\b|\bout\b/i, /\breport\b/i],
    holds: (report, items) => items.every(({ ticket, isClosed }) => !isClosed || !report.includes(ticket)),
  },
  {
    name: "total",
    text: "State the total directly below the title.",
    signs: [/\btotal\b/i, /\btitle\b/i],
    holds: (report) => /^total/i.test(report.split("\n")[1] ?? ""),
  },
]

export const specification = [
  "Specification for every report of this session:",
  ...clauses.map(({ text }) => `- ${text}`),
].join("\n")
