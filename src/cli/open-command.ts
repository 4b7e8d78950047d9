import { spawn } from "node:child_process"
import { join } from "node:path"
import { isObject, tryParse } from "../wire/json.ts"
import { dataPlace } from "./ask-store.ts"
import { type Command, type CommandFailure, isFailure, unusable } from "./command.ts"
import { findGateways } from "./running-gateway.ts"
import { readAdminToken } from "./serve-open.ts"
import { failedSettings, readSettings, settingOptions } from "./serve-settings.ts"
import { jsonLine } from "./terminal/output.ts"

/** Time limit for an answer: a gateway on this machine answers at once. */
const answerMs = 5000

/** The program that opens a link, by platform. */
const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
}

export const openCommand: Command = {
  summary: "Open the inspector in a browser, signed in",
  usage: "open [--print] [--port N] [--host H] [--data PLACE] [--config FILE] [--json]",
  options: {
    print: { help: "print the link and open nothing" },
    json: { help: "one JSON object on stdout, and nothing else; opens nothing" },
    ...settingOptions,
  },
  maxPositionals: 0,
  notes: `It asks the running gateway for a code that signs in once, within five minutes, and opens the inspector with it. The
browser makes a key of its own, which never leaves it, and stays signed in for eight hours. The newest gateway that
serves the store is asked, on whatever port; --port and --host name one elsewhere. Give the same --data, --config and
variables as to holdfast serve.

  holdfast open
  holdfast open --print --port 9000`,
  run: async (args, world) => {
    const settings = await readSettings(args, world.env)
    if ("faults" in settings) return await failedSettings(settings.faults, args.isOn("json"), world)
    const { admin, listen, data } = settings.config
    const place = dataPlace(data === undefined ? undefined : "place" in data ? data.place : data.secret, world.env)
    if (isFailure(place)) return place
    const token = admin.token ?? (await readAdminToken(join(place, "..", "admin-token")))
    if (typeof token === "object" && isFailure(token)) return token
    if (token === undefined)
      return unusable(
        "admin-token-missing",
        `There is no admin token beside ${place}: no gateway has been started with this store.`,
        "Start one with holdfast serve, or name the same --data, --config and variables that it was started with.",
      )
    const isAddressGiven = args.isOn("port") || args.isOn("host")
    const [running] = isAddressGiven ? [] : findGateways(place)
    const base = running?.url ?? addressOf(listen)
    const code = await askForCode(base, typeof token === "string" ? token : token.token)
    if (isFailure(code)) return code
    const link = `${base}/inspector#code=${code}`
    if (args.isOn("json")) await world.stdout.write(jsonLine({ link }))
    else await world.stdout.write(`${link}\n`)
    if (!args.isOn("print") && !args.isOn("json")) openLink(link)
    return 0
  },
}

/** Where a browser on this machine reaches a gateway that listens there. */
function addressOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const name = host === "0.0.0.0" || host === "::" || host === "" ? "127.0.0.1" : host
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`
}

async function askForCode(base: string, token: string): Promise<string | CommandFailure> {
  const failed = (why: string, next: string): CommandFailure =>
    unusable("gateway-unreachable", `The gateway at ${base} ${why}.`, next)
  const elsewhere = "Start it with holdfast serve, or say where it listens: --port N, --host H."
  try {
    const answer = await fetch(`${base}/admin/sign-in-codes`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(answerMs),
    })
    const told = tryParse(await answer.text())
    if (answer.ok && isObject(told) && typeof told.code === "string") return told.code
    if (answer.status === 401)
      return failed("has another admin token", "It was started with another store: name the same --data.")
    return failed(`answered with ${answer.status}`, elsewhere)
  } catch {
    return failed("does not answer", elsewhere)
  }
}

/** The link is printed as well, so that nothing is lost where no browser opens. */
function openLink(link: string): void {
  const [program = "xdg-open", ...before] = openers[process.platform] ?? ["xdg-open"]
  const child = spawn(program, [...before, link], { stdio: "ignore", detached: true })
  child.on("error", () => {})
  child.unref()
}
