import type { Effect } from "./command-table.ts"

/** What a piece of program text does as far as its calls say, with the texts quoted in it. */
export type CodeFacts = {
  readonly effects: ReadonlySet<Effect>
  readonly literals: readonly string[]
  /** Commands that it hands to a shell. */
  readonly scripts: readonly string[]
  readonly destructive: boolean
  readonly obscured: boolean
  readonly tooMany: boolean
}

/** Quoted texts of one program that are looked at. */
const maxLiterals = 5_000

const calls: readonly (readonly [Effect, RegExp])[] = [
  [
    "delete",
    /\b(?:os\.(?:remove|unlink|rmdir|removedirs)|shutil\.rmtree|unlink(?:Sync)?|rm(?:dir)?Sync|rimraf|fs\.rm|File\.delete|FileUtils\.rm\w*|rmtree|deleteMany|dropDatabase)\s*\(|\.unlink\s*\(/,
  ],
  [
    "write",
    /\bopen\s*\([^)\n]{0,300}["'](?:[wax]\+?b?|r\+)["']|\bwrite(?:File|FileSync|_text|_bytes|lines)?\s*\(|\b(?:os\.(?:rename|chmod|mkdir|makedirs)|shutil\.(?:copy\w*|move)|fs\.\w*(?:append|rename|mkdir|copy)\w*)\s*\(/,
  ],
  ["read", /\bopen\s*\(|\bread(?:File|FileSync|_text|_bytes|lines?)?\s*\(|\bFile\.(?:read|open)/],
  [
    "network",
    /\b(?:requests|httpx|aiohttp|urllib|urllib3|axios|fetch|http\.client|socket|paramiko|ftplib|WebClient|Net::HTTP|got)\b\s*[.(]/,
  ],
  [
    "send",
    /\b(?:requests|httpx|axios|session|client)\.(?:post|put|patch)\s*\(|\bsmtplib\b|\bsendmail\s*\(|\bsend_message\s*\(|method\s*[:=]\s*["'](?:POST|PUT|PATCH)/,
  ],
  [
    "execute",
    /\b(?:os\.(?:system|popen|exec\w*|spawn\w*)|subprocess\.\w+|child_process|exec(?:Sync|File|FileSync)?|spawn(?:Sync)?|popen|shell_exec|passthru|proc_open|Runtime\.getRuntime)\s*[.(]/,
  ],
]

const toShell =
  /(?:os\.(?:system|popen)|subprocess\.\w{1,30}|exec(?:Sync|File|FileSync)?|spawn(?:Sync)?|popen|shell_exec|passthru|system|Popen)\s{0,20}\(\s{0,20}/g
const firstArgument = /^(?:\[[^\]]*\]|[rbf]{0,2}(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))/
/** Calls to a shell that are looked at in one program, and characters of each. */
const maxScripts = 200
const maxScriptLength = 4_000
const literal = /"""([^"]{0,20000})"""|"((?:[^"\\\n]|\\.){1,4000})"|'((?:[^'\\\n]|\\.){1,4000})'|`([^`]{1,20000})`/gs
const dynamic =
  /\b(?:eval|exec|Function|compile|__import__)\s*\(\s*(?!["'])[^)]{0,200}(?:b64|base64|decode|atob|rot13|fromhex|decompress|reverse|\[::-1\]|requests|urlopen|fetch)/i

const unescaped = (text: string): string => text.replace(/\\(["'`\\])/g, "$1").replace(/\\n/g, "\n")

/** Read program text of any language by the calls that most of them have. */
export function codeFacts(code: string): CodeFacts {
  // A text put together from quoted pieces is read as a whole.
  const joined = code.replace(/"\s{0,20}\+\s{0,20}"|'\s{0,20}\+\s{0,20}'|'\s{1,20}'(?=\w)|"\s{1,20}"(?=\w)/g, "")
  const effects = new Set(calls.filter(([, pattern]) => pattern.test(joined)).map(([effect]) => effect))
  const literals: string[] = []
  for (const [, long, double, single, template] of joined.matchAll(literal)) {
    literals.push(unescaped(long ?? double ?? single ?? template ?? ""))
    if (literals.length >= maxLiterals) break
  }
  const scripts: string[] = []
  let tried = 0
  for (const { 0: call, index } of joined.matchAll(toShell)) {
    const start = index + call.length
    const given = firstArgument.exec(joined.slice(start, start + maxScriptLength))
    if (given !== null) scripts.push(scriptOf(given[0]))
    tried++
    if (tried >= maxScripts) break
  }
  return {
    effects,
    literals,
    scripts,
    destructive:
      /\brmtree\s*\(|\brimraf\b|\bdropDatabase\b|\bdeleteMany\(\s*(?:\{\s*\})?\s*\)|\.drop\(\s*\)|recursive\s*:\s*true[^)]{0,80}force|\bflushall\b/i.test(
        joined,
      ),
    obscured: dynamic.test(joined),
    tooMany: tried >= maxScripts || literals.length >= maxLiterals,
  }
}

function scriptOf(given: string): string {
  const pieces = [...given.matchAll(literal)].map(([, long, double, single]) =>
    unescaped(long ?? double ?? single ?? ""),
  )
  if (!given.startsWith("[")) return pieces.join(" ")
  return pieces.map((piece) => `'${piece.replaceAll("'", "'\\''")}'`).join(" ")
}
