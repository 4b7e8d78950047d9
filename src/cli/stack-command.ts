import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { diffStacks, type StackChange, type Version } from "../compact/stack/diff.ts"
import { stackFloor, stackTokens } from "../compact/stack/fit.ts"
import {
  isBlank,
  renderStack,
  type Section,
  type Stack,
  sectionsOf,
  layers as stackLayers,
} from "../compact/stack/stack.ts"
import { chooseStack, type StackMatch, type StackRule } from "../gateway/settings/stack-rules.ts"
import { HoldfastError } from "../message/errors.ts"
import { tokens } from "../message/message.ts"
import { present } from "../message/present.ts"
import { createStackReader, fitToWindow, type StackOptions } from "../session/stack/stack-options.ts"
import { createMeter, type Meter } from "../tokens/meter.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { askSession, dataOption } from "./ask-store.ts"
import {
  type Arguments,
  type Command,
  type CommandAnswer,
  type CommandGroup,
  commandFailure,
  unusable,
} from "./command.ts"
import type { ResolvedConfig } from "./config/resolved-config.ts"
import { readResolved, settingOptions } from "./serve-settings.ts"
import { count, number, type Paper, printable, right, sentenceOf, table } from "./terminal/output.ts"
import type { World } from "./world.ts"

/** Number of characters of a hash shown to people: enough to distinguish versions. */
const shownHash = 12

const choosing = {
  ...(settingOptions.config === undefined ? {} : { config: settingOptions.config }),
  model: { value: "NAME", help: "the stack that calls to this model get" },
  client: { value: "NAME", help: "the stack that this client gets, by its user-agent" },
  agent: { value: "NAME", help: "the stack that this agent gets, by x-holdfast-agent" },
  tenant: { value: "NAME", help: "the stack that this tenant gets" },
  json: { help: "one JSON object on stdout, and nothing else" },
}

type ReadStack = {
  readonly options: StackOptions
  readonly stack: Stack
  readonly meter: Meter
  readonly windowTokens: number
}

const noStack = (): never =>
  unusable(
    "stack-missing",
    "The configuration has no stack for such a call.",
    "Write stack: or documents: into the configuration; holdfast serve --print-schema prints all that it may say.",
  )

/** The stack that the described call would get, from the current sources. */
async function readChosenStack(
  args: Arguments,
  world: World,
  said: { readonly agent?: string; readonly tenant?: string } = {},
): Promise<ReadStack> {
  const config = await readResolved(args, world.env)
  const [model, client] = [args.valueOf("model"), args.valueOf("client")]
  const { agent = said.agent, tenant = said.tenant } = present({
    agent: args.valueOf("agent"),
    tenant: args.valueOf("tenant"),
  })
  const { stacks } = config
  const nothingSaid = [model, client, agent, tenant].every((name) => name === undefined)
  const options = nothingSaid ? stacks[0]?.stack : chooseStack(stacks, { model, client, agent, tenant })
  return options === undefined ? noStack() : await readStack(options, model, config)
}

async function readStack(
  options: StackOptions,
  model: string | undefined,
  config: Pick<ResolvedConfig, "windowTokens">,
): Promise<ReadStack> {
  const meter = createMeter(present({ model }))
  const windowTokens = config.windowTokens ?? meter.model.windowTokens
  return { options, stack: await createStackReader().read(options), meter, windowTokens }
}

const sectionJson = ({ name, hash, label, text, minTokens, shrink, document }: Section, meter: Meter) => ({
  name,
  hash,
  tokens: meter.text(text),
  minTokens,
  shrink: shrink.type,
  ...present({ label, document }),
})

const stackJson = (stack: Stack, meter: Meter) => ({
  hash: stack.hash,
  tokens: stackTokens(stack, meter.text),
  floorTokens: stackFloor(stack, meter),
  layers: stack.layers.map(({ layer, hash, sections }) => ({
    layer,
    hash,
    sections: sections.map((section) => sectionJson(section, meter)),
  })),
})

const columns = ["LAYER", "VERSION", right("TOKENS"), right("AT LEAST"), "GIVES WAY", "SECTION"] as const

const givesWay: Readonly<Record<Section["shrink"]["type"], string>> = {
  fixed: "never",
  truncate: "by its end",
  drop: "whole",
  swap: "to a shorter text",
}

function stackLines(stack: Stack, meter: Meter, paper: Paper): readonly string[] {
  const sections = sectionsOf(stack)
  const rows = sections.map(({ layer, name, hash, label, text, minTokens, shrink }) => [
    layer,
    `${hash.slice(0, shownHash)}${label === undefined ? "" : ` ${label}`}`,
    number(meter.text(text)),
    number(shrink.type === "fixed" ? meter.text(text) : minTokens),
    givesWay[shrink.type],
    name,
  ])
  const size = `${number(stackTokens(stack, meter.text))} tokens, at least ${number(stackFloor(stack, meter))}`
  return [
    paper.bold(`Prompt stack ${stack.hash.slice(0, shownHash)}: ${count(sections.length, "section")}, ${size}`),
    ...table(columns, rows, paper),
    ...stack.layers
      .filter((layer) => layer.sections.length > 0)
      .map(({ layer, hash }) => paper.dim(`layer ${layer.padEnd(7)}  ${hash.slice(0, shownHash)}`)),
  ]
}

const stackShow: Command = {
  options: { ...choosing, text: { help: "the text as the model reads it" } },
  run: async (args, world) => {
    const found = await readChosenStack(args, world)
    const { options, meter, windowTokens } = found
    const { stack, events } = fitToWindow(found.stack, options, { meter, windowTokens })
    const texts = renderStack(stack).map((part) => (part.type === "text" ? part.text : ""))
    return {
      json: { ...stackJson(found.stack, meter), windowTokens, events, ...(args.isOn("text") ? { texts } : {}) },
      text: (paper) =>
        args.isOn("text")
          ? texts.flatMap((text, n) => [...(n === 0 ? [] : [""]), ...printable(text).split("\n")])
          : [
              ...stackLines(found.stack, meter, paper),
              ...events.map(({ type, section, fromTokens, toTokens }) =>
                sentenceOf(`In a window of ${windowTokens}: ${type}, ${section}, ${fromTokens} to ${toTokens} tokens.`),
              ),
            ],
    }
  },
}

const versionWords = ({ hash, label }: Version): string =>
  `${hash.slice(0, shownHash)}${label === undefined ? "" : ` (${label})`}`

function changeWords(change: StackChange): string {
  switch (change.type) {
    case "section-added":
      return `${change.layer}: ${change.section} is new, ${versionWords(change.to)}`
    case "section-removed":
      return `${change.layer}: ${change.section} is gone, it was ${versionWords(change.from)}`
    case "section-changed":
      return `${change.layer}: ${change.section} changed from ${versionWords(change.from)} to ${versionWords(change.to)}`
    case "section-moved":
      return `${change.section} moved from ${change.from} to ${change.to}`
    case "layer-reordered":
      return `${change.layer}: its sections stand in another order`
  }
}

const diffAnswer = (before: Stack, after: Stack): CommandAnswer => {
  const changes = diffStacks(before, after)
  return {
    json: { from: before.hash, to: after.hash, changes },
    text: () =>
      changes.length === 0 ? ["No section changed."] : changes.map((change) => sentenceOf(changeWords(change))),
  }
}

const stackDiff: Command = {
  options: { ...choosing, ...dataOption },
  maxPositionals: 1,
  run: async (args, world) => {
    const [named = ""] = args.positionals
    if (named.endsWith(".json") && existsSync(named)) {
      const before = savedStack(await readFile(named, "utf8"))
      if (before === undefined)
        return unusable("file-invalid", `${named} is no stack.`, "Save one with holdfast stack show --json.")
      return diffAnswer(before, (await readChosenStack(args, world)).stack)
    }
    return askSession(args, world, async ({ session, row }) => {
      const before = await session.stack()
      if (before === undefined)
        return unusable(
          "stack-missing",
          `The session ${named} has no prompt stack.`,
          "It gets one with its next request.",
        )
      const found = await readChosenStack(args, world, { agent: row.agent, tenant: row.tenant })
      return diffAnswer(before.source, found.stack)
    })
  },
}

/** Reads a stack printed by `stack show --json`: versions without texts, which is enough for a diff. */
function savedStack(json: string): Stack | undefined {
  const saved = tryParse(json)
  if (!isObject(saved) || typeof saved.hash !== "string" || !Array.isArray(saved.layers)) return undefined
  const layers = saved.layers.flatMap((layer: unknown): Stack["layers"] => {
    const known = isObject(layer) ? stackLayers.find((name) => name === layer.layer) : undefined
    if (!isObject(layer) || known === undefined || !Array.isArray(layer.sections)) return []
    const sections = layer.sections.flatMap((section: unknown): readonly Section[] => {
      if (!isObject(section) || typeof section.name !== "string" || typeof section.hash !== "string") return []
      const { name, hash, label } = section
      const version = { name, hash, ...(typeof label === "string" ? { label } : {}) }
      return [{ ...version, layer: known, text: "", order: 0, minTokens: tokens(0), shrink: { type: "fixed" } }]
    })
    return [{ layer: known, hash: String(layer.hash), sections }]
  })
  return { hash: saved.hash, layers }
}

const forWhom = ({ when }: StackRule): string =>
  Object.entries(when ?? {})
    .map(([what, names]) => `${what} ${names.join(", ")}`)
    .join("; ") || "all calls"

type CheckedRule = { readonly rule: StackRule; readonly read?: ReadStack; readonly problem?: HoldfastError }

/** The model whose window a stack is checked against: the first one in its rule without a wildcard. */
const modelOf = ({ models = [] }: StackMatch): string | undefined => models.find((model) => !model.includes("*"))

async function checkRule(rule: StackRule, config: Pick<ResolvedConfig, "windowTokens">): Promise<CheckedRule> {
  try {
    const read = await readStack(rule.stack, modelOf(rule.when ?? {}), config)
    const { stack, meter, windowTokens } = read
    fitToWindow(stack, rule.stack, { meter, windowTokens })
    const floorTokens = stackFloor(stack, meter)
    if (floorTokens >= windowTokens) {
      const sizes = sectionsOf(stack).filter(({ text }) => !isBlank(text))
      const largest = sizes.reduce((most, one) => (meter.text(one.text) > meter.text(most.text) ? one : most))
      const named = `the prompt section "${largest.name}" (${meter.text(largest.text)} tokens)`
      throw new HoldfastError({ code: "floor-exceeds-window", floorTokens, windowTokens, largest: named })
    }
    return { rule, read }
  } catch (problem) {
    if (problem instanceof HoldfastError) return { rule, problem }
    throw problem
  }
}

/** Refuses a configuration whose stacks cannot be read, or leave no room for a conversation, before anything is served. */
export async function checkStacks(config: Pick<ResolvedConfig, "stacks" | "windowTokens">): Promise<void> {
  for (const rule of config.stacks) {
    const { problem } = await checkRule(rule, config)
    if (problem !== undefined) throw problem
  }
}

const stackCheck: Command = {
  options: { config: choosing.config ?? choosing.json, json: choosing.json },
  run: async (args, world) => {
    const config = await readResolved(args, world.env)
    if (config.stacks.length === 0) return noStack()
    const checked = await Promise.all(config.stacks.map((rule) => checkRule(rule, config)))
    const failed = checked.find(({ problem }) => problem !== undefined)?.problem
    return {
      json: {
        stacks: checked.map(({ rule, read, problem }) => ({
          for: forWhom(rule),
          ...(read === undefined ? {} : { ...stackJson(read.stack, read.meter), windowTokens: read.windowTokens }),
          ...present({ problem: problem?.problem }),
        })),
      },
      text: (paper) => checked.map((one) => sentenceOf(checkedWords(one, paper))),
      ...(failed === undefined ? {} : { failure: commandFailure(failed) }),
    }
  },
}

function checkedWords({ rule, read, problem }: CheckedRule, paper: Paper): string {
  if (read === undefined) return `${paper.bold(forWhom(rule))}: ${problem?.message ?? "it cannot be read"}`
  const { stack, meter, windowTokens } = read
  const sizes = `${number(stackTokens(stack, meter.text))} tokens, at least ${number(stackFloor(stack, meter))}`
  return `${paper.bold(forWhom(rule))}: ${stack.hash.slice(0, shownHash)}, ${count(sectionsOf(stack).length, "section")}, ${sizes}, in a window of ${number(windowTokens)}`
}

export const stackCommand: CommandGroup = {
  usual: "show",
  commands: new Map([
    ["show", stackShow],
    ["diff", stackDiff],
    ["check", stackCheck],
  ]),
}
