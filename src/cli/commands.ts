import type { Listed } from "./command.ts"

/** Every command by name, loaded when it is asked for: one does not wait for the rooms of another. A new one is a file and an entry here. */
export const commands: ReadonlyMap<string, Listed> = new Map<string, Listed>([
  [
    "compact",
    {
      summary: "Make a request fit its window or a budget, and say what was done",
      load: async () => (await import("./compact-command.ts")).compactCommand,
    },
  ],
  [
    "sessions",
    {
      summary: "See, take along, mend and delete the sessions that are stored",
      load: async () => (await import("./sessions-command.ts")).sessionsCommand,
    },
  ],
  [
    "memory",
    {
      summary: "Search and read what agents wrote down across their sessions",
      load: async () => (await import("./memory-command.ts")).memoryCommand,
    },
  ],
  [
    "policy",
    {
      summary: "See, check and change the operator's rules and policies, and their audit log",
      load: async () => (await import("./policy-command.ts")).policyCommand,
    },
  ],
  [
    "pin",
    {
      summary: "Give a rule that no conversation can take back, signed",
      load: async () => (await import("./pin-command.ts")).pinCommand,
    },
  ],
  [
    "unpin",
    {
      summary: "Take back a rule that was given by command, signed",
      load: async () => (await import("./unpin-command.ts")).unpinCommand,
    },
  ],
  [
    "keys",
    {
      summary: "Make keys that commands are signed with, and say which are trusted",
      load: async () => (await import("./keys-command.ts")).keysCommand,
    },
  ],
  [
    "serve",
    {
      summary: "Serve as a gateway between agents and their models",
      load: async () => (await import("./serve-command.ts")).serveCommand,
    },
  ],
  [
    "doctor",
    {
      summary: "Check what the gateway needs, and say what to do about what is amiss",
      load: async () => (await import("./doctor-command.ts")).doctorCommand,
    },
  ],
  [
    "mcp",
    {
      summary: "Let an agent recall what was compacted away, over MCP",
      load: async () => (await import("./mcp-command.ts")).mcpCommand,
    },
  ],
])
