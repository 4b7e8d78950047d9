import type { Client, RunOptions } from "./client.ts"
import { toolNames } from "./tool-names.ts"

/** The window that it assumes for this model. */
const assumedWindowTokens = 1_048_576

const settings = ({ ownLimitTokens, checksForLoops = false }: RunOptions): string =>
  JSON.stringify({
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    model: {
      disableLoopDetection: !checksForLoops,
      ...(ownLimitTokens === undefined ? {} : { compressionThreshold: ownLimitTokens / assumedWindowTokens }),
    },
  })

const skill = "---\nname: sing\ndescription: Sings a song when it is asked to.\n---\n\nSing.\n"

export const geminiCli: Client = {
  name: "gemini-cli",
  program: "gemini",
  format: "gemini",
  model: "gemini-2.5-pro",
  launch: (errand) => ({
    args: [
      ...["--yolo", "-m", "gemini-2.5-pro", "-o", "json"],
      ...(errand.continues === true ? ["--resume", "latest"] : []),
      ...["-p", errand.prompt],
    ],
    env: { GOOGLE_GEMINI_BASE_URL: errand.url, GEMINI_API_KEY: "dummy", GEMINI_TELEMETRY_ENABLED: "false" },
    files: {
      ".gemini/settings.json": settings(errand),
      ...(errand.hasSkill === true ? { ".gemini/skills/sing/SKILL.md": skill } : {}),
    },
  }),
  shell: (command) => ({ tool: "run_shell_command", input: { command, description: "Print a file" } }),
  shellReturnsBytes: 60 * 1024,
  read: (path) => ({ tool: "read_file", input: { file_path: path } }),
  isMain: (body) => toolNames(body).includes("run_shell_command"),
  endsWhenCut: true,
  resendsResults: true,
  stackTokens: 11_000,
  compacts: "by-usage",
}
