import script from "./story.json" with { type: "json" }
import type { ScriptedCall } from "./story.ts"

/** The tools of the demo's agent. Their names have a unique prefix, so that a policy on them affects no other agent. */
export const deskTools = {
  listOrders: "tern_list_orders",
  readFile: "tern_read_file",
  checkStock: "tern_check_stock",
  addNote: "tern_add_note",
  sendEmail: "tern_send_email",
} as const

/** The tool declarations that the agent sends to its model. */
export const deskToolList: readonly object[] = Object.entries(script.tools).map(([name, tool]) => {
  const texts = Object.entries(tool.arguments).map(([argument, description]) => [
    argument,
    { type: "string", description },
  ])
  const schema = { type: "object", properties: Object.fromEntries(texts), required: Object.keys(tool.arguments) }
  return { name, description: tool.description, input_schema: schema }
})

/** An e-mail that the agent's tool was called to send. It is only kept in memory. */
type SentMail = { readonly to: string; readonly body: string }

/** Creates the fictional order desk that the demo's tools work on, entirely in memory. */
export function createOrderDesk() {
  const mails: SentMail[] = []
  /** Executes a call and returns the text of its result. */
  const run = ({ tool, input }: ScriptedCall): string => {
    const given = (name: string): string => (typeof input[name] === "string" ? input[name] : "")
    switch (tool) {
      case deskTools.listOrders:
        return ordersText(given("day"))
      case deskTools.readFile:
        return fileText(given("path")) ?? `There is no file ${given("path")}.`
      case deskTools.checkStock:
        return stockText(given("warehouse"))
      case deskTools.addNote:
        return `Noted on ${given("about")}.`
      case deskTools.sendEmail:
        mails.push({ to: given("to"), body: given("body") })
        return `Sent to ${given("to")}.`
      default:
        return `There is no tool ${tool}.`
    }
  }
  return { run, mails: (): readonly SentMail[] => mails }
}

/** A pseudorandom number generator: linear congruential, with the constants of Numerical Recipes. */
function dice(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const { coffees, customers, counters, planted, ticket } = script
const pick = <Item extends string>(items: readonly Item[], at: number): string => items[at % items.length] ?? ""
const two = (value: number): string => String(value).padStart(2, "0")

function ordersText(day: string): string {
  const roll = dice(day.length * 4409)
  const orders = Array.from({ length: 16 }, (_, n) => {
    const id = `TC-${4406 + n}`
    const hangs = id === "TC-4409" || id === "TC-4417" || id === "TC-4421"
    return {
      id,
      customer: pick(customers, n),
      coffee: pick(coffees, roll(coffees.length)),
      bags: 4 + roll(20),
      total_eur: 120 + roll(900),
      placed: `${day}T${two(1 + roll(2))}:${two(roll(60))}:${two(roll(60))}Z`,
      status: hangs ? "waiting for import" : "at the roastery",
    }
  })
  return orders.map((order) => JSON.stringify(order)).join("\n")
}

/** The batch number that the user asks for at the end. Only one file contains it. */
export const batchNumber = "LOT-7Q2-0931-KX"

function orderText(): string {
  const lines = Array.from({ length: 8 }, (_, n) => ({
    line: n + 1,
    coffee: pick(coffees, n),
    grind: n % 2 === 0 ? "whole bean" : "filter",
    unit: "sack",
    quantity: 2 + n,
    price_eur: 31.5 + n * 1.25,
  }))
  const order = {
    order: "TC-4417",
    customer: { name: "Ferry Kiosk", contact: "orders@ferrykiosk.example.com", route: "harbour 3" },
    batch: batchNumber,
    roast_day: "2026-11-06",
    deliver_by: "2026-11-12",
    lines,
    history: ["placed", "paid", "sent to import 03:08", "no answer from the roastery"],
  }
  return JSON.stringify(order, null, 2)
}

function logText(hour: number): string {
  const roll = dice(hour * 7919)
  const lines = Array.from({ length: 34 }, (_, n) => {
    const at = `2026-11-09T${two(hour)}:${two(Math.floor(1.7 * n))}:${two(roll(60))}.${String(roll(1000)).padStart(3, "0")}Z`
    const row = 1000 + hour * 100 + n
    const stuck = hour === 3 && n >= 5 && roll(4) === 0
    return stuck
      ? `${at} ERROR import row=${row} unit=sack: no such unit in the roastery's list, row left out, retry 3 of 3`
      : `${at} INFO  import row=${row} coffee="${pick(coffees, roll(7))}" bags=${1 + roll(24)} took=${20 + roll(300)}ms ok`
  })
  return lines.join("\n")
}

function stockText(warehouse: string): string {
  const roll = dice([...warehouse].reduce((sum, sign) => sum * 31 + sign.charCodeAt(0), 7))
  const shelves = Array.from({ length: 22 }, (_, n) => ({
    shelf: `${warehouse.slice(0, 1).toUpperCase()}${two(n + 1)}`,
    coffee: pick(coffees, n),
    bags: roll(14),
    reserved: roll(5),
    roasted: `2026-11-${two(1 + roll(8))}`,
    counted_by: pick(counters, roll(3)),
  }))
  return JSON.stringify({ warehouse, counted: "2026-11-09", shelves }, null, 1)
}

/** The prompt injection at the end of the carrier's ticket. */
export const plantedText = planted

function pricesText(month: number): string {
  const roll = dice(month * 104_729)
  const rows = Array.from({ length: 56 }, (_, n) => {
    const price = 28 + (n % 7) * 1.5 + roll(60) / 100
    return `2026-${two(month)},${pick(coffees, n)},${n % 2 === 0 ? "whole bean" : "filter"},${1 + (n % 5)}kg,${price.toFixed(2)},EUR`
  })
  return ["month,coffee,grind,size,price,currency", ...rows].join("\n")
}

/** The text of a file of the desk; undefined if there is no such file. */
function fileText(path: string): string | undefined {
  if (path === "orders/TC-4417.json") return orderText()
  if (path === "tickets/T-208.txt") return `${ticket}${planted}`
  const hour = /^logs\/import-0([1-5])\.log$/.exec(path)?.[1]
  if (hour !== undefined) return logText(Number(hour))
  const month = /^prices\/2026-(09|10|11)\.csv$/.exec(path)?.[1]
  return month === undefined ? undefined : pricesText(Number(month))
}
