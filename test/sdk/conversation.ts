import { z } from "zod"
import { numberLiteral } from "../model-server/json.ts"
import { byRound, type Script } from "../model-server/script.ts"

export const system = "You answer briefly. 簡潔に答えてください。"
export const question = "What do the notes say, and how is the weather in Zürich? ☀️"
export const finalText = "The notes say “naïve café 日本語 👩‍💻”; Zürich has 21 °C and sun 🌤️. 以上です。"

export const firstReasoning = "The notes and the weather do not depend on each other 🤔 — 両方を同時に調べる。"

/** Two calls at once, then one, then the answer; the arguments nest and hold numbers that a double cannot keep. */
export const script: Script = byRound([
  {
    reasoning: firstReasoning,
    text: "Let me look both up. 👀",
    calls: [
      { tool: "read_file", input: { path: "notes/メモ.md" } },
      {
        tool: "get_weather",
        input: {
          city: "Zürich 🇨🇭",
          options: {
            days: 3,
            threshold: numberLiteral("1.0"),
            station: numberLiteral("12345678901234567890"),
            units: ["°C", "m/s"],
          },
        },
      },
    ],
  },
  {
    reasoning: "The notes point to a second file. もう一つ読む。",
    calls: [{ tool: "read_file", input: { path: 'notes/“quoted” and \\back\\slash "plain".md' } }],
  },
  { text: finalText },
])

export const readFileInput = z.object({ path: z.string() })
export const getWeatherInput = z.object({
  city: z.string(),
  options: z.object({ days: z.number(), threshold: z.number(), station: z.number(), units: z.array(z.string()) }),
})

/** What the tools return; each in its turn must reach the model. */
export const toolOutputs = {
  firstFile: "# メモ 📝 see the quoted file — naïve café",
  weather: "Zürich: 21 °C, sun 🌤️, wind 2 m/s",
  secondFile: "日本語 👩‍💻 end of the notes",
} as const

export const readFile = ({ path }: { readonly path: string }): string =>
  path.includes("quoted") ? toolOutputs.secondFile : toolOutputs.firstFile

export const getWeather = (_input: { readonly city: string }): string => toolOutputs.weather

export const descriptions = {
  read_file: "Read a text file. ファイルを読む。",
  get_weather: "Tell the weather of a city.",
} as const

export type ToolName = keyof typeof descriptions

export const inputs = { read_file: readFileInput, get_weather: getWeatherInput } as const

export const toolNames: readonly ToolName[] = ["read_file", "get_weather"]

/** The tool's input as a JSON schema, for the SDKs that take it plain. */
export function inputSchema(tool: ToolName): { readonly type: "object"; readonly [key: string]: unknown } {
  const { $schema: _, ...schema } = z.toJSONSchema(inputs[tool])
  return { ...schema, type: "object" }
}

/** Run a call that the model made, its input checked. */
export function runTool(tool: string, input: unknown): string {
  if (tool === "read_file") return readFile(readFileInput.parse(input))
  if (tool === "get_weather") return getWeather(getWeatherInput.parse(input))
  throw new Error(`the script calls no tool named ${tool}`)
}
