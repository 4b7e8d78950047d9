import { namedPatterns, wordSet } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import { argumentsOf, argumentTexts, literal, plainCode, type TextNames, unescaped } from "./code-text.ts"
import words from "./code-words.json" with { type: "json" }
import type { Effect } from "./command-table.ts"
import { namesControl } from "./controls.ts"
import { type Open, type OpenKind, open } from "./leaf.ts"
import { foundIn } from "./options.ts"

/** Maximum number of string literals read in one program. */
const maxLiterals = 5_000

const calls: readonly (readonly [Effect, RegExp])[] = namedPatterns({
  delete: [new RegExp(anyOf(`\\b${anyOf(words.fileDeleters)}\\s*\\(`, "\\.unlink\\s*\\(|\\.rmdir\\s*\\("))],
  write: [
    new RegExp(
      anyOf(
        "\\bopen\\s*\\([^)\\n]{0,300}[\"'](?:[wax]\\+?[bt]?|r\\+)[\"']|\\bopen\\s*\\(?[^;\\n]{0,100}[\"']\\s*>",
        "\\bwrite(?:File|FileSync|_text|_bytes|lines|TextFile|Text)?\\s*\\(",
        `\\b${anyOf(words.fileWriters, `to_${anyOf(words.tableFormats)}`, words.tableWriters)}\\s*\\(`,
        '\\bprint\\s*>>?\\s*"|\\b(?:Dir\\.mkdir|mkdir|rename|symlink)\\b\\s*[("\']',
        "\\.(?:touch|mkdir|rename|symlink_to|chmod)\\s*\\(",
      ),
    ),
  ],
  read: [
    /\bopen\s*\(|\bread(?:File|FileSync|_text|_bytes|lines?|TextFile)?\s*\(|\bFile\.(?:read|open)|file_get_contents\s*\(/,
  ],
  network: [
    new RegExp(`\\b${anyOf(words.networkNames)}\\b\\s*[.(:]`),
    new RegExp(
      `\\b(?:import|from|require|use|__import__|import_module)\\b\\s*\\(?\\s*["']?(?:node:)?${anyOf(words.networkModules)}\\b["']?(?!\\s*\\.)`,
    ),
  ],
  send: [
    new RegExp(
      anyOf(
        "\\b(?:requests|httpx|axios|session|client|got|ky|superagent)\\.(?:post|put|patch|delete|request)\\s*\\(",
        "\\bsmtplib\\b|\\bnodemailer\\b|\\bsendmail\\s*\\(|\\bsend_message\\s*\\(|\\bsend_?e?[Mm]ail\\w*\\s*\\(",
        "\\bsendEmail\\w*\\s*\\(|\\.send\\s*\\(|\\bmail\\s*\\(|method\\s*[:=]\\s*[\"'](?:POST|PUT|PATCH|DELETE)",
        "\\bRequest\\([^)]{0,200}data\\s*=",
      ),
    ),
  ],
  execute: [new RegExp(`\\b${anyOf(words.commandRunners)}\\s*[.(]`)],
})

const networkCalls = new RegExp(
  anyOf(
    `\\b${anyOf(words.networkClients)}\\.${anyOf(words.networkMethods)}\\s*\\(`,
    `\\b${anyOf(words.networkFunctions)}\\s*\\(`,
  ),
  "g",
)
const fileCalls = new RegExp(anyOf("(?<![\\w.])open\\s*\\(", `\\b${anyOf(words.fileReaders)}\\s*\\(`), "g")
const changeCalls = new RegExp(`\\b${anyOf(words.fileChangers)}\\s*\\(`, "g")
const statementCalls =
  /\.(?:execute|executemany|executescript|raw|query|exec_driver_sql|\$executeRawUnsafe|\$queryRawUnsafe)\s*\(/g
const shellCalls = new RegExp(`${anyOf(words.shellFunctions)}\\s{0,20}\\(\\s{0,20}`, "g")
const evaluations =
  /(?<![.\w])(?:eval|exec|Function|compile|execfile|instance_eval|class_eval|loadstring|create_function|assert_options)\s*\(\s*/g

/** Matches calls of something whose name is computed, and programs that are loaded from data. */
const dynamic = new RegExp(
  anyOf(
    "\\bgetattr\\s*\\(|\\bglobals\\s*\\(\\)|\\b__builtins__\\b|\\b__import__\\s*\\(\\s*(?![\"'])",
    "\\bimportlib\\b",
    "\\b(?:globalThis|window|process\\.mainModule|module\\.constructor|Reflect)\\s*[[.]\\s*(?:[\"'`]|apply|get)",
    "\\[\\s*(?:[\"'`][^\"'`\\n]*[\"'`]\\s*\\+|atob|String\\.fromCharCode)",
    "\\bfromCharCode\\b[\\s\\S]{0,200}\\b(?:eval|exec|Function)\\b|\\b(?:marshal|pickle)\\.loads?\\b",
    "\\bconstructor\\s*\\(\\s*[\"'`]return|\\bvm\\.run\\w+\\s*\\(|\\bctypes\\b|\\bcffi\\b",
  ),
)

const hostLiteral =
  /^(?:[a-z][a-z\d+.-]*:\/\/\S+|(?:[\w-]+\.)+(?!(?:py|js|ts|json|txt|csv|md|html?|ya?ml|toml|xml|log|sql|db|png|jpe?g|pdf|sh)$)[a-z]{2,}(?::\d+)?)$/i

/** Matches calls of file modules, except those that are known to only look. */
const fileModules = new RegExp(`\\b${anyOf(words.fileModules)}\\.(?!${anyOf(words.fileLookers)}\\b)\\w+`)
/** Matches names that a program imports from a file module: `import { rm } from "node:fs/promises"`. */
const fromFiles =
  /(?:import\s*\{([^}]{1,400})\}\s*from\s*|(?:const|let|var)\s*\{([^}]{1,400})\}\s*=\s*(?:await\s+import|require)\s*\(\s*)["'](?:node:)?(?:fs(?:\/promises)?|fs-extra)["']/g
const looksAtFiles =
  /^(?:read\w*|open\w*|l?stat\w*|access\w*|exists\w*|realpath\w*|watch\w*|createReadStream|constants|promises|glob\w*)$/
/** Matches the names that a program gives to a file module. */
const fileAliases =
  /(?:\b(?:const|let|var)\s+(\w+)\s*=\s*(?:await\s+import|require)\s*\(\s*|\bimport\s+(?:\*\s*as\s+)?(\w+)\s+from\s*)["'](?:node:)?(?:fs(?:\/promises)?|fs-extra)["']|\{[^}]{0,200}\bpromises\s*:\s*(\w+)/g
function fileCallsByAlias(text: string): boolean {
  return foundIn(text, fileAliases).some((name) =>
    [...text.matchAll(new RegExp(`(?<![\\w.$])${name}\\s*(?:\\?\\.)?(?:\\.(?:promises\\.)?\\s*(\\w+)|\\[)`, "g"))].some(
      ([, member]) => member === undefined || !looksAtFiles.test(member),
    ),
  )
}

function fileImports(text: string): readonly Effect[] {
  const named = foundIn(text, fromFiles).flatMap((list) =>
    list.split(",").map((name) => name.trim().split(/\s+as\s+|\s*:\s*/)[0] ?? ""),
  )
  const changing = named.filter((name) => name !== "" && !looksAtFiles.test(name))
  if (changing.length === 0) return []
  return changing.some((name) => /^(?:rm|unlink|remove|empty)/.test(name)) ? ["write", "delete"] : ["write"]
}

/** Matches a script in a page that reads a password field. */
const passwordField = /(?:querySelector\w*|getElement\w*|locator|\$\$?)\s*\([^)\n]{0,200}passw(?:or)?d/i

/** Matches calls without parentheses, as some languages allow. */
const callsWithoutParentheses = /\b(?:unlink|rename|rmdir|mkdir|chmod|chown|truncate|symlink|utime)\b\s+(?=["'$@%\w<])/
const cloudModules =
  /\b(?:boto3|botocore|aws-sdk|@aws-sdk|google\.cloud|googleapiclient|azure\.|@azure|kubernetes|@kubernetes|hcloud|digitalocean|pulumi|oci\.)/
const cloudChanges =
  /\.(?:create|run|delete|put|terminate|modify|launch|provision|destroy|deploy|update|start|stop|attach|detach|copy|upload|patch|replace|scale|invoke|authorize|revoke)_?[A-Za-z_]\w*\s*\(/

/** Matches names of calls that only look, connect, or process what was read; calls that run statements are read separately. */
const harmlessCalls = new RegExp(`^${anyOf(words.looking)}$`, "i")
const methodCalls = (text: string): readonly string[] => foundIn(text.slice(0, 100_000), /\.(\w+)\s*\(/g)

/** Match libraries for repositories and their hosts, and calls of theirs that overwrite or delete. */
const repositories =
  /\b(?:import|from|require|use)\b[^\n]{0,80}\b(?:git|pygit2|dulwich|GitPython|simple-git|isomorphic-git|nodegit|github3?|PyGithub|gitlab|octokit|rugged|bitbucket)\b|\boctokit\b|\bgit\.Repo\b/i
const overwrites = new RegExp(
  anyOf(
    `\\bpush\\w*\\s*\\([^;\\n]{0,400}${anyOf(words.pushOptions)}`,
    "\\bforce[\"']?\\s*[:=]\\s*(?:true|1)\\b",
    "\\.(?:delete_?(?:ref|git_ref|branch|repo|repository|tag|project|release)|deleteRef|deleteBranch|removeBranch)\\w*\\s*\\(",
    "\\bDELETE /repos/|\\b(?:repo|repository|project|branch|ref)\\w*\\.(?:delete|remove|archive)\\s*\\(",
  ),
  "i",
)

/** Matches calls that download what they name unless it is there already. */
const fetched = new RegExp(
  anyOf(
    `\\.${anyOf(words.downloadMethods)}\\s*\\(`,
    `\\b${anyOf(words.downloadFunctions)}\\s*\\(`,
    "\\bhub\\.load\\s*\\(|\\bimport\\s[^\\n]{0,200}\\bfetch_\\w+",
  ),
)
/** Matches calls of payment libraries, or of something named after a payment. */
const pays = new RegExp(
  anyOf(
    `\\b${anyOf(words.payers)}\\b[\\w.]{0,80}\\.${anyOf(words.paying)}\\w*\\s*\\(`,
    `\\b${anyOf(words.paymentObjects)}\\.(?:create|capture|confirm|execute|submit|send|make|place)\\w*\\s*\\(`,
    "\\b(?:make|send|create|submit|place|market|limit)_?(?:payment|payout|transfer|purchase|order|bid)s?\\s*\\(",
    "\\bPayment\\w*\\s*\\(|\\.(?:buy|sell|purchase|pay|charge|withdraw|payout|donate)\\s*\\(",
  ),
  "i",
)

/** Matches functions that parse or build a URL and do not call it. */
const urlParsing = /\burllib\.parse\b|\burlparse\s*\(|\burlsplit\s*\(|\bnew URL\s*\(/

/** Languages whose modules are not listed here, and words that suggest network access in a program of any language. */
const unlisted =
  /^(?:r|rscript|julia|elixir|erl|groovy|scala|jshell|tclsh|guile|racket|sbcl|ghc|emacs|lua[\d.]*|luajit|raku|osascript)$/
const networkWords = /install|download|https?|url|socket|connect|fetch|curl|ftp|rsync|Pkg\b|clone|tcp/i

/** Matches a field for an amount of money in what a program sends. */
const amountField =
  /["'](?:unit_|total_)?(?:amount|price|total)(?:_cents|_minor|_money)?["']\s*[:=](?!=)|\b(?:amount|price|total|betrag|summe)\w*\s*(?::(?!:)|=>)\s*\S/i
/** Matches calls that send something, whatever the library. */
const posting = /(?:\.|->|::)(?:post|put|patch)(?:_form|form|async|json|forobject|data)?\s*\(/i

/** Reads what a program in a language other than a shell's does, as far as its calls say, and its string literals. */
export function codeFacts(code: string, language = "other") {
  const { text, names } = plainCode(code)
  const effects = new Set(calls.filter(([, pattern]) => pattern.test(text)).map(([effect]) => effect))
  if (/awk$/.test(language) && /\/inet[46]?\/(?:tcp|udp)\//.test(text)) effects.add("network")
  if (effects.has("network") && posting.test(text)) effects.add("send")
  if (fileModules.test(text) || (/^(?:perl|ruby|php|raku|lua)/.test(language) && callsWithoutParentheses.test(text)))
    effects.add("write")
  for (const effect of fileImports(text)) effects.add(effect)
  if (fileCallsByAlias(text)) effects.add("write")
  if (cloudModules.test(text) && cloudChanges.test(text))
    for (const effect of ["write", "network", "deploy"] as const) effects.add(effect)
  const literals = foundIn(text, literal).slice(0, maxLiterals).map(unescaped)
  const unresolved: Open = new Map()
  const scripts = scriptsIn(text, language, names, unresolved)
  const urls = [
    ...readCalls(text, names, effects, unresolved),
    ...(urlParsing.test(text) && !effects.has("network") && unknownModule(text) === undefined ? [] : literals).filter(
      (one) => /^[a-z][a-z\d+.-]*:\/\/\S+$/i.test(one) || (effects.has("network") && hostLiteral.test(one)),
    ),
  ]
  if (fetched.test(text))
    open(unresolved, ["network", "hosts"], "the program loads something that may have to be fetched")
  const strange = unknownModule(text)
  if (strange !== undefined) open(unresolved, mayConcern(text), `nobody has said what the module ${strange} does`)
  if (unlisted.test(language) && networkWords.test(text))
    open(unresolved, ["network", "hosts"], "the program may reach out by ways that nobody has listed for its language")
  if (pays.test(text) || pageActions.test(text) || (effects.has("send") && amountField.test(text))) {
    effects.add("pay")
    open(unresolved, "amounts", "the program pays, and how much shows only when it runs")
  }
  readRemoteActions(unresolved, code, text, names, strange !== undefined)
  if (/awk$/.test(language) && /\bgetline\b[^;}\n]{0,80}<\s*(?!["'])/.test(text))
    open(unresolved, "paths", "the program reads a file whose name is put together when it runs")
  if (passwordField.test(text)) open(unresolved, "paths", "the program reads a field for passwords")
  if (dynamic.test(text))
    open(unresolved, "everything", "the program calls something whose name is put together when it runs")
  for (const argument of argumentsOf(text, evaluations))
    if (argumentTexts(argument, names) === undefined && argument !== "")
      open(unresolved, "everything", "the program runs a text that is put together when it runs")
  return {
    effects,
    literals,
    /** URLs that it calls, as far as they are literals. */
    urls,
    /** Commands that it passes to a shell. */
    scripts,
    destructive:
      /\brmtree\s*\(|\brimraf\b|\bdropDatabase\b|\bdeleteMany\(\s*(?:\{\s*\})?\s*\)|\.drop\(\s*\)|recursive\s*:\s*true[^)]{0,80}force|\bflush(?:all|db)\b|\.drop_?(?:database|collection|all)\(/i.test(
        text,
      ),
    /** True if it overwrites or deletes what others have in a repository. */
    overwrites: repositories.test(text) && overwrites.test(text),
    /** True if it loads an unknown module and has a call that is not known to only look. */
    acts: strange !== undefined && methodCalls(text).some((name) => !harmlessCalls.test(name)),
    /** True if it has a call whose name says that something is deleted. */
    takesAway: deletingCall.test(text),
    /** What is known only when it runs, with the reason. */
    unresolved,
    tooMany: literals.length >= maxLiterals,
  }
}

/** Marks as unresolved what a program may do to a cloud, a control or a page by calls that are not listed. */
function readRemoteActions(into: Open, code: string, text: string, names: TextNames, isStrange: boolean): void {
  const isCloud = cloudModules.test(text)
  if ((isCloud || isStrange) && cloudChanges.test(text)) {
    const regions = foundIn(text, /\b(?:region|location|zone)(?:_?name)?["']?\s*[:=](?!=)\s*([^,)}\n]+)/gi)
    const isWritten = (told: string): boolean =>
      argumentTexts(told.trim(), names)?.every((region) => code.includes(region)) === true
    if ((isCloud && regions.length === 0) || !regions.every(isWritten))
      open(into, "regions", "the program changes something in a region that shows only when it runs")
    if (namesControl(text.replace(/\benabled?\b/gi, "")))
      open(into, "controls", "the program changes something about a control, and nobody has said what")
  }
  if (pageActions.test(text))
    open(
      into,
      ["statements", "amounts"],
      "the program presses something on a page, and what that does is not in the call",
    )
}

/** Matches calls that operate a page as a person would. */
const pageActions = /\.(?:click|dblclick|tap|press|submit|dispatchEvent|selectOption|requestSubmit)\s*\(/

/** Matches calls of a path object that change its file. */
const pathChanges = /\b(\w+)\.(?:write_text|write_bytes|unlink|rename|touch|rmdir|symlink_to|chmod)\s*\(/g

/** Reads the arguments of network, file and database calls; one that is not a literal is unresolved. */
function readCalls(text: string, names: TextNames, effects: Set<Effect>, unresolved: Open): readonly string[] {
  const urls: string[] = []
  const known = (what: OpenKind, why: string, call: RegExp, sound: RegExp): readonly string[] =>
    argumentsOf(text, call).flatMap((argument) => {
      const values = argumentTexts(argument, names)
      const start =
        values === undefined && sound.test(argument.replace(/^[rbfu]{0,2}["'`]/, ""))
          ? [argument.replace(/^[rbfu]{0,2}["'`]/, "")]
          : values
      if (start === undefined && argument !== "" && argument !== "0") open(unresolved, what, why)
      return start ?? []
    })
  if (effects.has("network"))
    urls.push(
      ...known(
        "hosts",
        "the program calls an address that is put together when it runs",
        networkCalls,
        /^[a-z]+:\/\/[\w.-]+[/:?]/i,
      ),
    )
  known("paths", "the program opens a file whose name is put together when it runs", fileCalls, /^$/)
  for (const name of foundIn(text, pathChanges))
    if (
      names.get(name) === undefined &&
      new RegExp(`\\b${name}\\s*=(?!=)[^\\n]{0,200}\\bPath\\([^\\n]{0,200}[/+,][^\\n]{0,200}["'\\w)]`).test(text)
    )
      open(unresolved, "changedPaths", "the program changes a file whose name is put together when it runs")
  known("changedPaths", "the program changes a file whose name is put together when it runs", changeCalls, /^$/)
  known(
    "statements",
    "the program runs a statement that is put together when it runs",
    statementCalls,
    /^\s*(?:select|show|describe)\s/i,
  )
  if (mailLibraries.test(text) && (!/@[\w-]+\.\w/.test(text) || mailsUnknown(text, names)))
    open(unresolved, "recipients", "the program sends mail to someone who is not written in it")
  return urls
}

const mailTargets = new RegExp(
  anyOf(
    "\\bsendmail\\s*\\([^,()]{0,300},\\s*(\\[[^\\]]*\\]|[^,)\\n]+)",
    "\\bsend_?(?:e?mail)\\w*\\s*\\(\\s*([^,)\\n{]+)",
    "(?:\\bto|\\bcc|\\bbcc|\\[[\"'](?:To|Cc|Bcc)[\"']\\])\\s*[:=](?!=)\\s*(\\[[^\\]]*\\]|[^,;)}\\n]+)",
    "(?:->|\\.)(?:to|cc|bcc|recipients?|rcpt|add_?(?:to|cc|bcc|recipient)|addAddress)\\s*\\(\\s*([^)\\n]{1,300})",
  ),
  "gi",
)

/** True if a program sends mail to a recipient that is known only when it runs. */
function mailsUnknown(text: string, names: TextNames): boolean {
  const targets = foundIn(text, mailTargets)
  // Without a field for the recipient, the first argument is the recipient.
  const handed = targets.length > 0 ? [] : argumentsOf(text, /\.send\w{0,12}\s*\(/g)
  if (handed.some((argument) => argument !== "" && argumentTexts(argument, names) === undefined)) return true
  return targets.some((target) =>
    target
      .replace(/^\[|\]$/g, "")
      .split(",")
      .some((one) => one.trim() !== "" && argumentTexts(one.trim(), names) === undefined),
  )
}

/** Commands that a program passes to a shell. */
function scriptsIn(text: string, language: string, names: TextNames, unresolved: Open): readonly string[] {
  const scripts: string[] = []
  for (const argument of argumentsOf(text, shellCalls)) {
    const list = /^\[(.*)\]$/s.exec(argument)?.[1]
    if (list !== undefined) {
      const words = list.split(",").map((word) => word.trim())
      const pieces = words.map((word) => argumentTexts(word, names)?.[0])
      if (pieces.includes(undefined))
        open(unresolved, "everything", "the program runs a command that is put together when it runs")
      scripts.push(pieces.map((piece) => `'${(piece ?? "\u0001").replaceAll("'", "'\\''")}'`).join(" "))
      continue
    }
    const values = argumentTexts(argument, names)
    if (values === undefined && argument !== "")
      open(unresolved, "everything", "the program runs a command that is put together when it runs")
    scripts.push(...(values ?? []))
  }
  for (const [, program = "", list = ""] of text.matchAll(
    /(?:spawn(?:Sync)?|execFile(?:Sync)?)\s*\(\s*["'`]([^"'`\n]+)["'`]\s*,\s*\[([^\]]*)\]/g,
  ))
    scripts.push(
      [program, ...[...list.matchAll(literal)].map(([, , , double, single]) => `'${double ?? single ?? ""}'`)].join(
        " ",
      ),
    )
  if (/^(?:perl|ruby|php|lua|raku)/.test(language))
    scripts.push(...foundIn(text, /`([^`]+)`|(?:qx|%x)\s*[{([/|]([^})\]/|]+)/g))
  scripts.push(...foundIn(text, /do shell script\s+"([^"]+)"/g))
  if (language === "tclsh") scripts.push(...foundIn(text, /\bexec\s+([^\n;\]]+)/g))
  if (/awk$/.test(language)) scripts.push(...foundIn(text, /"([^"]+)"\s*\|\s*getline|print[^|;}]*\|\s*"([^"]+)"/g))
  return scripts
}

/** Matches a call whose name says that something is deleted. */
const deletingCall =
  /(?:\b|[._])(?:delete\w*|unlink\w*|rm|rm_?rf?|rmSync|removeSync|remove\w*|drop\w*|destroy\w*|purge\w*|truncate\w*|rmtree|flush\w*)\s*[("'\s]/i

const mailLibraries = new RegExp(`\\b${anyOf(words.mailLibraries)}\\b`)

/** What an unknown module that is given something may do, by the words in the program. */
const subjects: readonly (readonly [what: OpenKind, words: RegExp])[] = [
  ["recipients", /[\w.+-]@[\w-]+\.\w|e-?mail|recipient|\.send\w*\(/i],
  ["paths", /secret|passw(?:or)?d|credential|vault|private_?key/i],
  ["amounts", /\b(?:pay|charge|purchase|payout|transfer|checkout|amount)\w*/i],
  ["statements", deletingCall],
]
const mayConcern = (text: string): readonly OpenKind[] => [
  "network",
  "hosts",
  // Recipients given to a mail library are read separately.
  ...subjects.flatMap(([what, words]) =>
    words.test(text) && !(what === "recipients" && mailLibraries.test(text)) ? [what] : [],
  ),
  ...(namesControl(text.replace(/\benabled?\b/gi, "")) ? (["controls"] as const) : []),
]

/** Modules of the usual languages that use no network by themselves: any other module may do anything. */
const offlineModules = wordSet(...Object.values(words.modules).flat())

/** Matches ways to load a module in the usual languages. A relative one is a file of the project. */
const moduleImports: readonly RegExp[] = [
  /^[ \t]*from[ \t]+([\w.]+)[ \t]+import\b/gm,
  /(?:^|[;\n])[ \t]*import[ \t]+([A-Za-z_][\w., \t]*)(?=$|[;\n#])/gm,
  /\b__import__\(\s*["']([\w.]+)["']/g,
  /\bimport_module\(\s*["']([\w.]+)["']/g,
  /\b(?:require|import)\s*\(\s*["'`]([^"'`\n]+)["'`]/g,
  /\b(?:from|import)\s+["']([^"'\n]+)["']/g,
  /^[ \t]*require\s+["']([^"'\n]+)["']/gm,
  /^[ \t]*use\s+([A-Z][\w:]*)/gm,
]

/** Matches submodules of those that do use the network. */
const onlineSubmodules =
  /^(?:logging\.(?:handlers|config)|multiprocessing\.(?:connection|managers)|concurrent\.interpreters|tkinter\.dnd)$/
const unknownLoopCall = new RegExp(`\\basyncio\\.(?!${anyOf(words.loopFunctions)}\\b)\\w+`)

/** The first module that a program loads and that is not known to work offline. */
function unknownModule(code: string): string | undefined {
  if (unknownLoopCall.test(code)) return "asyncio"
  for (const pattern of moduleImports)
    for (const list of foundIn(code, pattern))
      for (const written of list.split(",")) {
        const name = (written.trim().split(/\s/)[0] ?? "").replace(/^node:/, "")
        if (name === "" || /^[./]/.test(name)) continue
        const root = name.split(/[./]|::/)[0] ?? ""
        if (onlineSubmodules.test(name) || (!offlineModules.has(name) && !offlineModules.has(root))) return name
      }
  return undefined
}
