/** Matches files that agents take their instructions from. */
const forAgents =
  /^(?:(?:agents?|claude|gemini|qwen|codex|conventions)(?:\.(?:local|override))?\.md|\.(?:cursor|windsurf|cline|roo|goose)rules(?:-\w+)?(?:\.md)?|\.goosehints|copilot-instructions\.md|.{1,80}\.instructions\.md)$/i
/** Matches files whose name says that they hold rules for people or agents who work on the project. */
const forWork =
  /^(?:.{0,60}[-_. ])?(?:polic(?:y|ies)|rules|guidelines?|instructions?|conventions?|politicas?|reglas|normas|richtlinien|regeln|规则|政策|规范)(?:[-_. ].{0,40})?\.(?:mdx?|mdc|txt|rst|adoc)$/i
/** Matches files in folders of rules. */
const ruleFolder =
  /(?:^|\/)(?:\.[\w-]{2,20}\/(?:rules(?:-\w+)?|instructions)|\.clinerules|rules|policies|guidelines)\//i
const prose = /(?:^|\/)[^/]*\.(?:mdx?|mdc|txt)$/i
/** Matches rules for programs, and files of dependencies, skills and the system. */
const ofMachines = /(?:lint|firewall|build|css|retry|cache|routing|proguard|iptables|cors)[-_. ]?(?:rules|polic)/i
const ofDependencies =
  /(?:^|\/)(?:node_modules|site-packages|dist-packages|vendor|third[_-]party|\.?venv|\.cargo|skills?|usr\/(?:share|lib)|opt)\//i

/** True if a path is that of a file with instructions for the agent. Any folder, either kind of slash. */
export function isInstructionFile(path: string): boolean {
  const bare = path
    .trim()
    .replace(/^file:\/\//, "")
    .replaceAll("\\", "/")
  if (/^[a-z][\w+.-]+:\/\//i.test(bare) || ofDependencies.test(bare)) return false
  const name = bare.slice(bare.lastIndexOf("/") + 1)
  if (forAgents.test(name)) return true
  if (ofMachines.test(name) || /^readme/i.test(name)) return false
  return forWork.test(name) || (ruleFolder.test(bare) && prose.test(bare))
}
