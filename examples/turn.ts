import { readdir, readFile } from "node:fs/promises"
import { relative, resolve, sep } from "node:path"
import { parseArgs } from "node:util"
import { type Format, formats, HoldfastError, type TurnEvent, type TurnTool, turn, turnSoFar } from "holdfast"

const help = `Asks a model about a folder. The model lists and reads files until it knows the answer, inside a context budget.

  MODEL_BASE_URL=http://127.0.0.1:8080/v1 MODEL=small-model node examples/turn.ts "What is decided about caching?"

  MODEL_BASE_URL    where the model's API is
  MODEL             its name
  MODEL_API_KEY     its key, if it wants one
  MODEL_FORMAT      ${formats.join(", ")}; openai-chat unless given

  --folder DIR      what to read; docs/decisions unless given
  --budget TOKENS   how large a request may be; 8000 unless given`

/** Two tools that read only below one folder. */
function readingTools(folder: string): readonly TurnTool[] {
  const inside = (path: string): string => {
    const full = resolve(folder, path)
    if (full !== folder && !full.startsWith(folder + sep)) throw new Error(`${path} is outside the folder.`)
    return full
  }
  const path = { path: { type: "string", description: "Relative to the folder; . is the folder itself." } }
  const inputSchema = { type: "object", properties: path, required: ["path"] }
  return [
    {
      name: "list_files",
      description: "List the files and folders below a path.",
      inputSchema,
      run: async (input: { readonly path: string }) => {
        const entries = await readdir(inside(input.path), { withFileTypes: true })
        return entries.map((entry) => entry.name + (entry.isDirectory() ? "/" : "")).join("\n")
      },
    },
    {
      name: "read_file",
      description: "Read a text file.",
      inputSchema,
      run: (input: { readonly path: string }, { signal }) => readFile(inside(input.path), { encoding: "utf8", signal }),
    },
  ]
}

const brief = (value: unknown): string => (JSON.stringify(value) ?? "").slice(0, 100)

/** Prints the events of the turn. */
function show(event: TurnEvent): void {
  if (event.type === "text-delta") process.stdout.write(event.text)
  if (event.type === "tool-call-complete") console.log(`\n→ ${event.tool} ${brief(event.input)}`)
  if (event.type === "tool-result")
    console.log(`← ${event.failed ? event.output : `${event.output.length.toLocaleString("en")} characters`}`)
  if (event.type === "model-call-retried") console.log(`… the model's server is busy; again in ${event.waitMs} ms`)
  if (event.type === "context-compacted" && event.report !== undefined) {
    const { before, after, droppedMessages } = event.report
    console.log(
      `\n⇣ compacted: ${before.totalTokens} to ${after.totalTokens} tokens, ${droppedMessages} messages summed up`,
    )
  }
}

const formatOf = (name: string | undefined): Format => formats.find((format) => format === name) ?? "openai-chat"

async function main(): Promise<void> {
  const options = { folder: { type: "string" }, budget: { type: "string" }, help: { type: "boolean" } } as const
  const { values, positionals } = parseArgs({ allowPositionals: true, options })
  const { MODEL_BASE_URL: baseUrl, MODEL: model, MODEL_API_KEY: apiKey, MODEL_FORMAT: format } = process.env
  if (values.help === true || baseUrl === undefined || model === undefined) {
    console.log(help)
    return
  }
  const controller = new AbortController()
  process.once("SIGINT", () => controller.abort())
  const folder = resolve(values.folder ?? resolve(import.meta.dirname, "../docs/decisions"))
  console.log(`${model} reads ${relative(process.cwd(), folder) || "."}\n`)
  const { usage, iterations } = await turn({
    agent: {
      model: { format: formatOf(format), baseUrl, model, ...(apiKey === undefined ? {} : { apiKey }) },
      instructions: "Answer from the files of the folder, and name those that you rest on. Say so if they do not tell.",
    },
    inputs: positionals.join(" ") || "What is in this folder? Say it in three sentences.",
    tools: readingTools(folder),
    contextBudget: Number(values.budget ?? 8_000),
    onEvent: show,
    signal: controller.signal,
  })
  console.log(`\n\n${iterations} model calls, ${usage.inputTokens} tokens read, ${usage.outputTokens} written`)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof HoldfastError)) throw error
  console.error(`\n${error.message}`)
  const soFar = turnSoFar(error)
  if (soFar !== undefined) console.error(`${soFar.messages.length} messages were exchanged until then.`)
  process.exitCode = 1
}
