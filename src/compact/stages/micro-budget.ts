import type { ToolKind, ToolNature } from "./tool-kind.ts"

/** Tokens that an old result of each kind may still take. */
const kindBudgets: Readonly<Record<ToolKind, number>> = {
  /** A file can be read again; its definitions and the lines that were worked on say where. */
  read: 600,
  /** Some twenty files with a line each; the search can be run again. */
  search: 400,
  /** A log's errors and its end. */
  shell: 500,
  /** A few failing tests with their messages, and the tally. */
  test: 600,
  /** A page may be gone or changed tomorrow. */
  web: 700,
  /** Records are dense and exact: most answers of an API fit in whole. */
  json: 800,
  /** Changed lines are what was done. */
  diff: 800,
  /** Names only. */
  list: 250,
  other: 500,
}

/** What changed something outside cannot be asked again, so it keeps twice as much, and stays whole for three times as many rounds. */
const writeFactor = 2
const writeRounds = 3

/** A failed result keeps so much for its error lines, however tight things are: a message and where it came from. */
const failedFloor = 80

export type BudgetOptions = {
  /** In place of the defaults, by the name of a tool or by a kind. */
  readonly budgets?: Readonly<Record<string, number>>
  /** 1 is normal; less tightens every budget; 0 leaves only markers. */
  readonly scale?: number
}

/** Tokens that an old result may take. */
export function budgetOf(
  result: ToolNature & { readonly tool: string; readonly failed: boolean },
  { budgets = {}, scale = 1 }: BudgetOptions,
): number {
  const asked = Object.hasOwn(budgets, result.tool) ? budgets[result.tool] : undefined
  const ofKind = (Object.hasOwn(budgets, result.kind) ? budgets[result.kind] : undefined) ?? kindBudgets[result.kind]
  const budget = Math.floor((asked ?? ofKind * (result.writes ? writeFactor : 1)) * scale)
  return result.failed ? Math.max(failedFloor, budget) : budget
}

/** How many of the newest rounds a result stays whole for. */
export const wholeRounds = (keepRounds: number, writes: boolean, scale: number): number =>
  writes ? Math.floor(keepRounds * (1 + (writeRounds - 1) * Math.min(1, scale))) : keepRounds
