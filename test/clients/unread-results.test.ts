import { expect, test } from "vitest"
import { tokensOfPieces } from "../../src/tokens/prompt-cache.ts"
import { parseJson } from "../model-server/json.ts"
import { requestPieces } from "../model-server/request-pieces.ts"
import { allClients, oneOfEach } from "./all-clients.ts"
import { createAskingAgain, type Reading } from "./asks-again.ts"
import type { Client } from "./client.ts"
import { describeClients } from "./describe-clients.ts"
import { runTask } from "./run-task.ts"
import { finalText } from "./task.ts"

/** If set, every window is tested with every size and tool; otherwise a few combinations for each client. */
const isWholeGrid = process.env.HOLDFAST_CLIENTS_GRID === "1"

type Tool = "read" | "shell"
type Case = { readonly client: Client; readonly windowTokens: number; readonly fileKb: number; readonly tool: Tool }

const windows = [30_000, 45_000, 56_000, 100_000, 200_000]
const fileSizesKb = [6, 28, 60]

const wholeGrid: readonly Case[] = allClients.flatMap((client) =>
  windows.flatMap((windowTokens) =>
    fileSizesKb.flatMap((fileKb) =>
      (["read", "shell"] as const)
        .filter((tool) => tool === "read" || fileKb * 1024 <= client.shellReturnsBytes)
        .map((tool) => ({ client, windowTokens, fileKb, tool })),
    ),
  ),
)

/** Each size on the smallest of three windows that has room for it beside the stack of every client. */
const someSizes: readonly (readonly [windowTokens: number, fileKb: number])[] = [
  [30_000, 6],
  [56_000, 28],
  [200_000, 60],
]

const someCases: readonly Case[] = wholeGrid.filter(({ client, windowTokens, fileKb, tool }) =>
  tool === "read"
    ? someSizes.some(([window, kb]) => window === windowTokens && kb === fileKb)
    : oneOfEach.includes(client) && windowTokens === 56_000 && fileKb === 28,
)

const files = 8
const maxTries = 7

/** Minimum reserve for the model's answer, which is a quarter of what the stack leaves free. */
const minReserveTokens = 4096

type Sizes = { readonly stackTokens: number; readonly resultTokens: number }

/** Sizes as the client sent them: its first request, and what the first file adds to it. */
function sizesOf(client: Client, sent: readonly Uint8Array[]): Sizes {
  const [first = 0, second = 0] = sent
    .filter((body) => client.isMain(parseJson(new TextDecoder().decode(body))))
    .slice(0, 2)
    .map((body) => tokensOfPieces(requestPieces(client.format, body, client.model) ?? []))
  return { stackTokens: first, resultTokens: second - first }
}

function hasRoom({ stackTokens, resultTokens }: Sizes, windowTokens: number): boolean {
  const reserveTokens = Math.max(minReserveTokens, Math.floor((windowTokens - stackTokens) / 4))
  return stackTokens + resultTokens + reserveTokens <= windowTokens
}

/** Returns the files that the client itself cut, in which case the test says nothing about the gateway. */
const undelivered = (readings: readonly Reading[], sent: readonly Uint8Array[]): readonly string[] =>
  readings.filter(({ line }) => !sent.some((body) => Buffer.from(body).includes(line))).map(({ file }) => file)

describeClients("a model that asks for a file again until it has seen the line in its middle", () => {
  test.each(isWholeGrid ? wholeGrid : someCases)(
    "$client.name on a window of $windowTokens, with files of $fileKb KB by its tool to $tool: each that has room is asked for once",
    async ({ client, windowTokens, fileKb, tool }) => {
      const call = (path: string) => (tool === "read" ? client.read(path) : client.shell(`cat ${path}`))
      const task = createAskingAgain(client, { files, fileBytes: fileKb * 1024, maxTries, call })
      const run = await runTask(client, {
        situation: `${fileKb} KB by ${tool}, window ${windowTokens / 1000}k`,
        steps: files,
        stepBytes: fileKb * 1024,
        windowTokens,
        gateway: { windowTokens },
        scriptIn: task.scriptIn,
        errands: [{ wholeOutputs: true }],
        results: (sent) => ({ filesSeen: tell(task.readings(), hasRoom(sizesOf(client, sent), windowTokens)) }),
      })
      expect(run.failures).toEqual([])
      expect(run.runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([[0, true]])
      expect(run.account).toMatchObject({ refusedUpstream: 0, refusedForClient: 0 })
      expect(undelivered(task.readings(), run.sent)).toEqual([])
      if (hasRoom(sizesOf(client, run.sent), windowTokens)) {
        const expected = task.readings().map(({ file }) => ({ file, tries: 1, seen: true }))
        expect(task.readings().map(({ file, tries, seen }) => ({ file, tries, seen }))).toEqual(expected)
      }
    },
  )
})

function tell(readings: readonly Reading[], fits: boolean): string {
  const asked = readings.reduce((sum, { tries }) => sum + tries, 0)
  return `${readings.filter(({ seen }) => seen).length} of ${readings.length}, asked ${asked}${fits ? "" : ", no room"}`
}
