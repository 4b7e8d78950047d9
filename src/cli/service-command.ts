import { spawnSync } from "node:child_process"
import { mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { codeOrThrow } from "../message/errors.ts"
import { storeOptions, usualFolders } from "./ask-store.ts"
import { type Command, type CommandAnswer, type CommandGroup, unusable } from "./command.ts"
import { unwritable } from "./deliver.ts"
import { sentenceOf } from "./terminal/output.ts"
import type { World } from "./world.ts"

/** A service manager that keeps a gateway running for one user: its file, and the commands that act on it. */
type Manager = {
  readonly name: string
  readonly file: string
  readonly text: (argv: readonly string[], folder: string) => string
  readonly start: readonly (readonly string[])[]
  readonly stop: readonly (readonly string[])[]
  readonly ask: readonly string[]
}

const label = "dev.holdfast.gateway"
const unit = "holdfast.service"

/** Quotes a word for systemd, which splits at blanks, expands `%` and `$`, and reads quotes like C. */
const unitWord = (word: string): string => JSON.stringify(word).replaceAll("%", "%%").replaceAll("$", "$$$$")

function systemd(home: string, env: World["env"]): Manager {
  const config =
    env.XDG_CONFIG_HOME === undefined || env.XDG_CONFIG_HOME === "" ? join(home, ".config") : env.XDG_CONFIG_HOME
  const control = (...words: readonly string[]): readonly string[] => ["systemctl", "--user", ...words]
  return {
    name: "systemd",
    file: join(config, "systemd", "user", unit),
    text: (argv, folder) => `[Unit]
Description=Holdfast gateway
After=network.target

[Service]
ExecStart=${argv.map(unitWord).join(" ")}
WorkingDirectory=${folder.replaceAll("%", "%%")}
Restart=on-failure

[Install]
WantedBy=default.target
`,
    start: [control("daemon-reload"), control("enable", "--now", unit)],
    stop: [control("disable", "--now", unit)],
    ask: control("is-active", unit),
  }
}

const xml = (text: string): string => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)

function launchd(home: string): Manager {
  const file = join(home, "Library", "LaunchAgents", `${label}.plist`)
  return {
    name: "launchd",
    file,
    text: (argv, folder) => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>Label</key><string>${label}</string>
<key>ProgramArguments</key><array>${argv.map((word) => `<string>${xml(word)}</string>`).join("")}</array>
<key>WorkingDirectory</key><string>${xml(folder)}</string>
<key>RunAtLoad</key><true/>
<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
</dict></plist>
`,
    start: [["launchctl", "load", "-w", file]],
    stop: [["launchctl", "unload", "-w", file]],
    ask: ["launchctl", "list", label],
  }
}

/** The service manager of this platform; fails on others. */
export function managerOf(platform: string, env: World["env"]): Manager {
  const home = env.HOME === undefined || env.HOME === "" ? homedir() : env.HOME
  if (platform === "linux") return systemd(home, env)
  if (platform === "darwin") return launchd(home)
  return unusable(
    "service-unknown",
    `On ${platform} holdfast cannot install itself as a service.`,
    "Run holdfast serve by what your system has for that, or holdfast wrap for one client.",
  )
}

type CommandOutput = { readonly code: number | null; readonly said: string }

function runLine([program = "", ...args]: readonly string[], env: World["env"]): CommandOutput {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", env: { ...env } })
  return { code: status, said: error === undefined ? `${stdout}${stderr}`.trim() : error.message }
}

/** Runs commands until one fails; the failure quotes its output. */
function runLines(lines: readonly (readonly string[])[], env: World["env"]): void {
  for (const line of lines) {
    const { code, said } = runLine(line, env)
    if (code !== 0)
      unusable(
        "service-failed",
        `${line.join(" ")} failed: ${sentenceOf(said).slice(0, 300)}.`,
        /connect to bus|No medium found|not been booted/.test(said)
          ? "No systemd of this user runs here, as in a container or after su: log in as that user, or run holdfast serve instead."
          : "Run it by hand to see more.",
      )
  }
}

/** The command line of this program, with links resolved, so that the service works after a link is removed. */
const ownArguments = (): readonly string[] => [process.execPath, realpathSync(process.argv[1] ?? "")]

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

const answer = (json: object, words: string): CommandAnswer => ({ json, text: () => [sentenceOf(words)] })

const install: Command = {
  options: storeOptions,
  run: async (args, world) => {
    const manager = managerOf(process.platform, world.env)
    const former = join(world.env.HOME ?? homedir(), ".holdfast")
    const folder = resolve(args.valueOf("data") ?? (isThere(former) ? former : usualFolders(world.env).data))
    const text = manager.text([...ownArguments(), "serve", "--data", folder], folder)
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      mkdirSync(dirname(manager.file), { recursive: true })
      writeFileSync(manager.file, text)
    } catch (error) {
      return unwritable(manager.file, codeOrThrow(error))
    }
    runLines(manager.start, world.env)
    const words = `Installed and started: ${manager.file}. holdfast status --data ${folder} shows it.`
    return answer({ installed: manager.file, data: folder }, words)
  },
}

const remove: Command = {
  options: storeOptions,
  run: async (_args, world) => {
    const manager = managerOf(process.platform, world.env)
    if (!isThere(manager.file)) return answer({ removed: false }, "No service is installed.")
    try {
      runLines(manager.stop, world.env)
    } finally {
      rmSync(manager.file, { force: true })
    }
    return answer({ removed: manager.file }, `Removed: ${manager.file}. Its data is where it was.`)
  },
}

const status: Command = {
  options: storeOptions,
  run: async (_args, world) => {
    const manager = managerOf(process.platform, world.env)
    const installed = isThere(manager.file)
    const running = installed && runLine(manager.ask, world.env).code === 0
    const words = installed
      ? `${manager.file}: ${running ? "it runs" : "it does not run"}.`
      : "No service is installed."
    return answer({ installed, running, manager: manager.name }, words)
  },
}

/** The commands for a gateway that starts with the user's session. */
export const serviceCommand: CommandGroup = {
  usual: "status",
  commands: new Map([
    ["install", install],
    ["remove", remove],
    ["status", status],
  ]),
}
