import { namedPatterns, wordSet } from "../../language/word-forms.ts"
import { argumentsOf, argumentTexts, literal, plainCode, type TextNames, unescaped } from "./code-text.ts"
import type { Effect } from "./command-table.ts"
import { namesControl } from "./controls.ts"
import { type Open, type OpenFacts, type OpenKind, open } from "./leaf.ts"
import lists from "./words.json" with { type: "json" }

/** What a program in a language other than a shell's does as far as its calls say, with the texts quoted in it. */
type CodeFacts = {
  readonly effects: ReadonlySet<Effect>
  readonly literals: readonly string[]
  /** Addresses that it calls, as far as they are written out. */
  readonly urls: readonly string[]
  /** Commands that it hands to a shell. */
  readonly scripts: readonly string[]
  readonly destructive: boolean
  /** It overwrites or deletes what others have in a repository. */
  readonly overwrites: boolean
  /** It has a call of a connection or a client that is not known to look. */
  readonly acts: boolean
  /** It has a call whose name says that something is taken away. */
  readonly takesAway: boolean
  /** What shows only when it runs, with the reason. */
  readonly unresolved: OpenFacts
  readonly tooMany: boolean
}

/** Quoted texts of one program that are looked at. */
const maxLiterals = 5_000

const calls: readonly (readonly [Effect, RegExp])[] = namedPatterns({
  delete: [
    /\b(?:os\.(?:remove|unlink|rmdir|removedirs)|shutil\.rmtree|unlink(?:Sync)?|rm(?:dir)?Sync|rimraf|fs\.rm|File\.delete|FileUtils\.rm\w*|rmtree|deleteMany|dropDatabase|Deno\.remove|RemoveAll|remove_dir_all)\s*\(|\.unlink\s*\(|\.rmdir\s*\(/,
  ],
  write: [
    /\bopen\s*\([^)\n]{0,300}["'](?:[wax]\+?[bt]?|r\+)["']|\bopen\s*\(?[^;\n]{0,100}["']\s*>|\bwrite(?:File|FileSync|_text|_bytes|lines|TextFile|Text)?\s*\(|\b(?:os\.(?:rename|chmod|mkdir|makedirs|symlink|link)|shutil\.(?:copy\w*|move)|fs\.\w*(?:append|rename|mkdir|copy|symlink|chmod|truncate|write)\w*|File\.(?:write|rename)|IO\.write|file_put_contents|appendFile(?:Sync)?|Bun\.write|(?:to_(?:csv|json|excel|parquet|pickle|feather|hdf|sql|html|stata|netcdf|file)|save(?:fig|txt|z|_pretrained|_model|_img)?|np\.save\w*|write_(?:csv|parquet|json|html|image|gbq)))\s*\(|\bprint\s*>>?\s*"|\b(?:Dir\.mkdir|mkdir|rename|symlink)\b\s*[("']|\.(?:touch|mkdir|rename|symlink_to|chmod)\s*\(/,
  ],
  read: [
    /\bopen\s*\(|\bread(?:File|FileSync|_text|_bytes|lines?|TextFile)?\s*\(|\bFile\.(?:read|open)|file_get_contents\s*\(/,
  ],
  network: [
    /\b(?:requests|httpx|aiohttp|urllib(?!\.parse)|urllib2|urllib3|urlopen|axios|fetch|http\.client|http\.get|https\.get|http\.request|https\.request|socket|paramiko|sendBeacon|EventSource|HTTPSConnection|HTTPConnection|ftplib|telnetlib|WebClient|WebSocket|XMLHttpRequest|Net::HTTP|LWP|HTTParty|Faraday|got|ky|superagent|curl_init|curl_exec|net\.connect|net['"]?\)\.connect|net\.createConnection|dgram|dns|tls\.connect|fsockopen|pfsockopen|stream_socket_client|TCPSocket|UDPSocket|TcpClient|IO::Socket(?:::\w+)?|HttpClient|HttpURLConnection|open_connection|create_connection|create_datagram_endpoint|getaddrinfo|gethostby\w+|Deno\.(?:connect|connectTls|resolveDns)|Bun\.connect|net\.Dial\w*|tls\.Dial\w*|http\.(?:Get|Post|NewRequest)|UrlFetchApp)\b\s*[.(:]/,
    /\b(?:import|from|require|use|__import__|import_module)\b\s*\(?\s*["']?(?:node:)?(?:socket|socketserver|ssl|requests|httpx|aiohttp|urllib[23]?(?!\.parse)|http\.client|ftplib|telnetlib|paramiko|smtplib|imaplib|poplib|nntplib|xmlrpc|websockets?|pycurl|grpc|dns|dgram|tls|https?2?|axios|node-fetch|undici|got|superagent|net|Net::\w+|LWP)\b["']?(?!\s*\.)/,
  ],
  send: [
    /\b(?:requests|httpx|axios|session|client|got|ky|superagent)\.(?:post|put|patch|delete|request)\s*\(|\bsmtplib\b|\bnodemailer\b|\bsendmail\s*\(|\bsend_message\s*\(|\bsend_?e?[Mm]ail\w*\s*\(|\bsendEmail\w*\s*\(|\.send\s*\(|\bmail\s*\(|method\s*[:=]\s*["'](?:POST|PUT|PATCH|DELETE)|\bRequest\([^)]{0,200}data\s*=/,
  ],
  execute: [
    /\b(?:os\.(?:system|popen|exec\w*|spawn\w*|posix_spawn\w*)|subprocess\.\w+|child_process|exec(?:Sync|File|FileSync)?|spawn(?:Sync)?|popen|shell_exec|passthru|proc_open|Runtime\.getRuntime|Deno\.(?:run|Command)|Bun\.(?:spawn|\$)|pty\.spawn|commands\.getoutput)\s*[.(]/,
  ],
})

const networkCalls =
  /\b(?:requests|httpx|axios|session|client|got|ky|superagent|https?|urllib\.request|Net::HTTP|HTTParty|Faraday)\.(?:get|post|put|patch|delete|head|options|request|stream|urlopen|urlretrieve|start)\s*\(|\b(?:fetch|urlopen|urlretrieve|axios|got|WebSocket|curl_init|file_get_contents|connect|create_connection|createConnection)\s*\(/g
const fileCalls =
  /(?<![\w.])open\s*\(|\b(?:readFile|readFileSync|read_csv|read_json|read_text|createReadStream|readTextFile|file_get_contents|File\.(?:read|open|readlines)|IO\.read|loadtxt|np\.load|json\.load_file|readDir\w*|readdir\w*|opendir|read_dir|listdir|scandir|os\.walk|Deno\.(?:open|stat|lstat|readLink)\w*|ReadFile|ReadDir|os\.Open)\s*\(/g
const changeCalls =
  /\b(?:writeFile|writeFileSync|appendFile|appendFileSync|unlink|unlinkSync|rm|rmSync|rmdir|rmdirSync|rename|renameSync|copyFile|copyFileSync|createWriteStream|os\.(?:remove|unlink|rmdir|rename|chmod)|shutil\.(?:rmtree|copy\w*|move)|File\.(?:write|delete|rename)|FileUtils\.\w+|file_put_contents|rmtree)\s*\(/g
const statementCalls =
  /\.(?:execute|executemany|executescript|raw|query|exec_driver_sql|\$executeRawUnsafe|\$queryRawUnsafe)\s*\(/g
const shellCalls =
  /(?:os\.(?:system|popen|exec\w*|spawn\w*)|subprocess\.\w{1,30}|exec(?:Sync|File|FileSync)|(?:child_process['"]?\)?|cp|childProcess)\.exec|(?<![.\w])exec(?=\s*\(\s*["'`])|spawn(?:Sync)?|popen|shell_exec|passthru|proc_open|(?<!\w)system|Popen|check_output|check_call|getoutput|Deno\.Command|Bun\.spawn)\s{0,20}\(\s{0,20}/g
const evaluations =
  /(?<![.\w])(?:eval|exec|Function|compile|execfile|instance_eval|class_eval|loadstring|create_function|assert_options)\s*\(\s*/g

/** Ways to call something by a name that is put together, or to read a program out of data. */
const dynamic =
  /\bgetattr\s*\(|\bglobals\s*\(\)|\b__builtins__\b|\b__import__\s*\(\s*(?!["'])|\bimportlib\b|\b(?:globalThis|window|process\.mainModule|module\.constructor|Reflect)\s*[[.]\s*(?:["'`]|apply|get)|\[\s*(?:["'`][^"'`\n]*["'`]\s*\+|atob|String\.fromCharCode)|\bfromCharCode\b[\s\S]{0,200}\b(?:eval|exec|Function)\b|\b(?:marshal|pickle)\.loads?\b|\bconstructor\s*\(\s*["'`]return|\bvm\.run\w+\s*\(|\bctypes\b|\bcffi\b/

const hostLiteral =
  /^(?:[a-z][a-z\d+.-]*:\/\/\S+|(?:[\w-]+\.)+(?!(?:py|js|ts|json|txt|csv|md|html?|ya?ml|toml|xml|log|sql|db|png|jpe?g|pdf|sh)$)[a-z]{2,}(?::\d+)?)$/i

/** Modules for files: a call of theirs that is not known to look changes something. */
const fileModules =
  /\b(?:os|fs|fsp|fsPromises|shutil|FileUtils|File|Dir|Deno|Files|ioutil)\.(?!(?:path|sep|environ|getcwd|getenv|getpid|listdir|walk|scandir|stat|lstat|cpu_count|name|uname|access|exists\w*|exist\?|is\w*|file\?|directory\?|read\w*|open\w*|glob|join|basename|dirname|extname|expand_path|each\w*|entries|children|pwd|realpath\w*|which|disk_usage|get_terminal_size|createReadStream|constants|promises|watch\w*|size\??|mtime|foreach|args|env|cwd|fsencode|fspath|linesep|devnull|urandom|system|popen|exec\w*|spawn\w*|kill|getppid|getuid|getlogin|times|Command|run|version|lines|list|newBufferedReader|ReadFile|ReadDir|ReadAll)\b)\w+/
/** What a program takes by name out of the module for files: `import { rm } from "node:fs/promises"`. */
const fromFiles =
  /(?:import\s*\{([^}]{1,400})\}\s*from\s*|(?:const|let|var)\s*\{([^}]{1,400})\}\s*=\s*(?:await\s+import|require)\s*\(\s*)["'](?:node:)?(?:fs(?:\/promises)?|fs-extra)["']/g
const looksAtFiles =
  /^(?:read\w*|open\w*|l?stat\w*|access\w*|exists\w*|realpath\w*|watch\w*|createReadStream|constants|promises|glob\w*)$/
/** TextNames under which a program has that module. */
const fileAliases =
  /(?:\b(?:const|let|var)\s+(\w+)\s*=\s*(?:await\s+import|require)\s*\(\s*|\bimport\s+(?:\*\s*as\s+)?(\w+)\s+from\s*)["'](?:node:)?(?:fs(?:\/promises)?|fs-extra)["']|\{[^}]{0,200}\bpromises\s*:\s*(\w+)/g
function fileCallsByAlias(text: string): boolean {
  const names = [...text.matchAll(fileAliases)].flatMap(([, one, other, third]) => one ?? other ?? third ?? [])
  return names.some((name) =>
    [...text.matchAll(new RegExp(`(?<![\\w.$])${name}\\s*(?:\\?\\.)?(?:\\.(?:promises\\.)?\\s*(\\w+)|\\[)`, "g"))].some(
      ([, member]) => member === undefined || !looksAtFiles.test(member),
    ),
  )
}

function fileImports(text: string): readonly Effect[] {
  const named = [...text.matchAll(fromFiles)].flatMap(([, one, other]) =>
    (one ?? other ?? "").split(",").map((name) => name.trim().split(/\s+as\s+|\s*:\s*/)[0] ?? ""),
  )
  const changing = named.filter((name) => name !== "" && !looksAtFiles.test(name))
  if (changing.length === 0) return []
  return changing.some((name) => /^(?:rm|unlink|remove|empty)/.test(name)) ? ["write", "delete"] : ["write"]
}

/** A script in a page that looks at what somebody typed as a password. */
const passwordField = /(?:querySelector\w*|getElement\w*|locator|\$\$?)\s*\([^)\n]{0,200}passw(?:or)?d/i

/** Languages in which calls need no brackets. */
const bareCalls = /\b(?:unlink|rename|rmdir|mkdir|chmod|chown|truncate|symlink|utime)\b\s+(?=["'$@%\w<])/
const cloudModules =
  /\b(?:boto3|botocore|aws-sdk|@aws-sdk|google\.cloud|googleapiclient|azure\.|@azure|kubernetes|@kubernetes|hcloud|digitalocean|pulumi|oci\.)/
const cloudChanges =
  /\.(?:create|run|delete|put|terminate|modify|launch|provision|destroy|deploy|update|start|stop|attach|detach|copy|upload|patch|replace|scale|invoke|authorize|revoke)_?[A-Za-z_]\w*\s*\(/

/** Calls that look, connect, or work on what was read; those of statements are read as such. */
const looking =
  /^(?:redis|strictredis|\w*(?:client|connection|engine|pool)|get\w*|fetch\w*|find\w*|list\w*|read\w*|load\w*|loads|dump|dumps|describe\w*|show\w*|scan\w*|query\w*|execute\w*|select\w*|where|filter\w*|order_?by|group_?by|sort\w*|limit|head\w*|tail|count\w*|sum|mean|median|min|max|agg\w*|aggregate|describe|info|keys|values|items|h?mget|hgetall|lrange|llen|smembers|zrange|ttl|exists|ping|connect\w*|cursor|close|client|resource|session|from_url|format|join|split|strip\w*|replace|lower|upper|startswith|endswith|append|extend|encode|decode|print\w*|log|error|map|forEach|reduce|slice|concat|includes|then|catch|json|text|status|to_(?:dict|list|string|numpy|pandas|frame|json|csv)|plot\w*|iter\w*|collection|database|db|table|paginate|get_paginator|raise_for_status|stringify|parse\w*|all|first|one|scalar\w*|rollback|explain|stats|isoformat|strftime|now|today|year|round|test|exec|match\w*|search|group)$/i
const methodCalls = (text: string): readonly string[] =>
  [...text.slice(0, 100_000).matchAll(/\.(\w+)\s*\(/g)].map(([, name = ""]) => name)

/** Libraries for repositories and their hosts, and calls of theirs that overwrite or delete. */
const repositories =
  /\b(?:import|from|require|use)\b[^\n]{0,80}\b(?:git|pygit2|dulwich|GitPython|simple-git|isomorphic-git|nodegit|github3?|PyGithub|gitlab|octokit|rugged|bitbucket)\b|\boctokit\b|\bgit\.Repo\b/i
const overwrites =
  /\bpush\w*\s*\([^;\n]{0,400}(?:\bforce\b|\bmirror\b|\bdelete\b|\bprune\b|["'`][+:]|["'`]-{1,2}(?:f|d|force|delete|mirror|prune)|\*\*|\.\.\.)|\bforce["']?\s*[:=]\s*(?:true|1)\b|\.(?:delete_?(?:ref|git_ref|branch|repo|repository|tag|project|release)|deleteRef|deleteBranch|removeBranch)\w*\s*\(|\bDELETE \/repos\/|\b(?:repo|repository|project|branch|ref)\w*\.(?:delete|remove|archive)\s*\(/i

/** Calls that fetch what they name unless it is there already. */
const fetched =
  /\.(?:download|from_pretrained|snapshot_download|hf_hub_download|load_dataset|fetch_\w+)\s*\(|\b(?:load_dataset|snapshot_download|hf_hub_download|download_file|fetch_openml)\s*\(|\bhub\.load\s*\(|\bimport\s[^\n]{0,200}\bfetch_\w+/
/** Calls of those who move money, or of something named after it. */
const pays =
  /\b(?:stripe|paypal|braintree|adyen|mollie|razorpay|square|wise)\b[\w.]{0,80}\.(?:create|capture|confirm|pay|send|execute|transfer|refund)\w*\s*\(|\b(?:payments?|payouts?|charges?|transfers?|payment_?intents?|refunds?|purchases?|checkouts?)\.(?:create|capture|confirm|execute|submit|send|make|place)\w*\s*\(|\b(?:make|send|create|submit|place|market|limit)_?(?:payment|payout|transfer|purchase|order|bid)s?\s*\(|\bPayment\w*\s*\(|\.(?:buy|sell|purchase|pay|charge|withdraw|payout|donate)\s*\(/i

/** Addresses that are taken apart or put together, and not called. */
const takesApart = /\burllib\.parse\b|\burlparse\s*\(|\burlsplit\s*\(|\bnew URL\s*\(/

/** Languages whose modules nobody has listed, and words with which a program of any reaches out. */
const unlisted =
  /^(?:r|rscript|julia|elixir|erl|groovy|scala|jshell|tclsh|guile|racket|sbcl|ghc|emacs|lua[\d.]*|luajit|raku|osascript)$/
const reaching = /install|download|https?|url|socket|connect|fetch|curl|ftp|rsync|Pkg\b|clone|tcp/i

/** A field for a sum in what a program sends. */
const sums =
  /["'](?:unit_|total_)?(?:amount|price|total)(?:_cents|_minor|_money)?["']\s*[:=](?!=)|\b(?:amount|price|total|betrag|summe)\w*\s*(?::(?!:)|=>)\s*\S/i
/** Calls that send something, whatever the library. */
const posting = /(?:\.|->|::)(?:post|put|patch)(?:_form|form|async|json|forobject|data)?\s*\(/i

/** Read program text of any language by the calls that most of them have. */
export function codeFacts(code: string, language = "other"): CodeFacts {
  const { text, names } = plainCode(code)
  const effects = new Set(calls.filter(([, pattern]) => pattern.test(text)).map(([effect]) => effect))
  if (/awk$/.test(language) && /\/inet[46]?\/(?:tcp|udp)\//.test(text)) effects.add("network")
  if (effects.has("network") && posting.test(text)) effects.add("send")
  if (fileModules.test(text) || (/^(?:perl|ruby|php|raku|lua)/.test(language) && bareCalls.test(text)))
    effects.add("write")
  for (const effect of fileImports(text)) effects.add(effect)
  if (fileCallsByAlias(text)) effects.add("write")
  if (cloudModules.test(text) && cloudChanges.test(text))
    for (const effect of ["write", "network", "deploy"] as const) effects.add(effect)
  const literals: string[] = []
  for (const [, long, other, double, single, template] of text.matchAll(literal)) {
    literals.push(unescaped(long ?? other ?? double ?? single ?? template ?? ""))
    if (literals.length >= maxLiterals) break
  }
  const unresolved: Open = new Map()
  const scripts = scriptsIn(text, language, names, unresolved)
  const urls = [
    ...readCalls(text, names, effects, unresolved),
    ...(takesApart.test(text) && !effects.has("network") && strangeModule(text) === undefined ? [] : literals).filter(
      (one) => /^[a-z][a-z\d+.-]*:\/\/\S+$/i.test(one) || (effects.has("network") && hostLiteral.test(one)),
    ),
  ]
  if (fetched.test(text))
    open(unresolved, ["network", "hosts"], "the program loads something that may have to be fetched")
  const strange = strangeModule(text)
  if (strange !== undefined) open(unresolved, mayConcern(text), `nobody has said what the module ${strange} does`)
  if (unlisted.test(language) && reaching.test(text))
    open(unresolved, ["network", "hosts"], "the program may reach out by ways that nobody has listed for its language")
  if (pays.test(text) || pressesKeys.test(text) || (effects.has("send") && sums.test(text))) {
    effects.add("pay")
    open(unresolved, "amounts", "the program pays, and how much shows only when it runs")
  }
  readActsElsewhere(unresolved, code, text, names, strange !== undefined)
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
    urls,
    scripts,
    destructive:
      /\brmtree\s*\(|\brimraf\b|\bdropDatabase\b|\bdeleteMany\(\s*(?:\{\s*\})?\s*\)|\.drop\(\s*\)|recursive\s*:\s*true[^)]{0,80}force|\bflush(?:all|db)\b|\.drop_?(?:database|collection|all)\(/i.test(
        text,
      ),
    overwrites: repositories.test(text) && overwrites.test(text),
    acts: strange !== undefined && methodCalls(text).some((name) => !looking.test(name)),
    takesAway: takingAway.test(text),
    unresolved,
    tooMany: literals.length >= maxLiterals,
  }
}

/** What a program may do to a cloud or a page by calls that nobody has listed. */
function readActsElsewhere(into: Open, code: string, text: string, names: TextNames, isStrange: boolean): void {
  const isCloud = cloudModules.test(text)
  if ((isCloud || isStrange) && cloudChanges.test(text)) {
    const regions = [...text.matchAll(/\b(?:region|location|zone)(?:_?name)?["']?\s*[:=](?!=)\s*([^,)}\n]+)/gi)]
    const isWritten = (told: string): boolean =>
      argumentTexts(told.trim(), names)?.every((region) => code.includes(region)) === true
    if ((isCloud && regions.length === 0) || regions.some(([, told = ""]) => !isWritten(told)))
      open(into, "regions", "the program changes something in a region that shows only when it runs")
    if (namesControl(text.replace(/\benabled?\b/gi, "")))
      open(into, "controls", "the program changes something about a control, and nobody has said what")
  }
  if (pressesKeys.test(text))
    open(
      into,
      ["statements", "amounts"],
      "the program presses something on a page, and what that does is not in the call",
    )
}

/** Calls that use a page as a person would. */
const pressesKeys = /\.(?:click|dblclick|tap|press|submit|dispatchEvent|selectOption|requestSubmit)\s*\(/

/** Read what network, file and database calls are given; where it is not written in the program it is unresolved. */
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
  for (const [, name = ""] of text.matchAll(
    /\b(\w+)\.(?:write_text|write_bytes|unlink|rename|touch|rmdir|symlink_to|chmod)\s*\(/g,
  ))
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

const mailTargets =
  /\bsendmail\s*\([^,()]{0,300},\s*(\[[^\]]*\]|[^,)\n]+)|\bsend_?(?:e?mail)\w*\s*\(\s*([^,)\n{]+)|(?:\bto|\bcc|\bbcc|\[["'](?:To|Cc|Bcc)["']\])\s*[:=](?!=)\s*(\[[^\]]*\]|[^,;)}\n]+)|(?:->|\.)(?:to|cc|bcc|recipients?|rcpt|add_?(?:to|cc|bcc|recipient)|addAddress)\s*\(\s*([^)\n]{1,300})/gi

/** Does a program send mail to someone whom it finds out when it runs? */
function mailsUnknown(text: string, names: TextNames): boolean {
  const targets = [...text.matchAll(mailTargets)]
  // Without a field for it, who gets it is the first thing that is handed over.
  const handed = targets.length > 0 ? [] : argumentsOf(text, /\.send\w{0,12}\s*\(/g)
  if (handed.some((argument) => argument !== "" && argumentTexts(argument, names) === undefined)) return true
  return targets.some(([, called, given, field, handedOver]) =>
    (called ?? given ?? field ?? handedOver ?? "")
      .replace(/^\[|\]$/g, "")
      .split(",")
      .some((one) => one.trim() !== "" && argumentTexts(one.trim(), names) === undefined),
  )
}

/** The commands that a program hands to a shell. */
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
    for (const [, ticks, quoted] of text.matchAll(/`([^`]+)`|(?:qx|%x)\s*[{([/|]([^})\]/|]+)/g))
      scripts.push(ticks ?? quoted ?? "")
  for (const [, script] of text.matchAll(/do shell script\s+"([^"]+)"/g)) scripts.push(script ?? "")
  if (language === "tclsh") for (const [, script] of text.matchAll(/\bexec\s+([^\n;\]]+)/g)) scripts.push(script ?? "")
  if (/awk$/.test(language))
    for (const [, before, after] of text.matchAll(/"([^"]+)"\s*\|\s*getline|print[^|;}]*\|\s*"([^"]+)"/g))
      scripts.push(before ?? after ?? "")
  return scripts
}

/** A call whose name says that something is taken away. */
const takingAway =
  /(?:\b|[._])(?:delete\w*|unlink\w*|rm|rm_?rf?|rmSync|removeSync|remove\w*|drop\w*|destroy\w*|purge\w*|truncate\w*|rmtree|flush\w*)\s*[("'\s]/i

const mailLibraries =
  /\b(?:smtplib|nodemailer|sendMail|sendmail|sendEmail|MailApp|GmailApp|send_(?:\w+_)?e?mail|yagmail|redmail|mailgun|sendgrid|postmark(?:er)?|emails|resend|SMTP|ActionMailer|outgoing message|tell application "(?:Mail|Messages|Microsoft Outlook|Spark)")\b/

/** What a program may have to do with that hands something to a module of which nothing is known, by the words in it. */
const subjects: readonly (readonly [what: OpenKind, words: RegExp])[] = [
  ["recipients", /[\w.+-]@[\w-]+\.\w|e-?mail|recipient|\.send\w*\(/i],
  ["paths", /secret|passw(?:or)?d|credential|vault|private_?key/i],
  ["amounts", /\b(?:pay|charge|purchase|payout|transfer|checkout|amount)\w*/i],
  ["statements", takingAway],
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

/** Modules of the usual languages that use no network by themselves: what a program loads beside these may do anything. */
const offline = wordSet(...Object.values(lists.modules))

/** Ways to load a module in the usual languages. A relative one is a file of the project. */
const loads: readonly RegExp[] = [
  /^[ \t]*from[ \t]+([\w.]+)[ \t]+import\b/gm,
  /(?:^|[;\n])[ \t]*import[ \t]+([A-Za-z_][\w., \t]*)(?=$|[;\n#])/gm,
  /\b__import__\(\s*["']([\w.]+)["']/g,
  /\bimport_module\(\s*["']([\w.]+)["']/g,
  /\b(?:require|import)\s*\(\s*["'`]([^"'`\n]+)["'`]/g,
  /\b(?:from|import)\s+["']([^"'\n]+)["']/g,
  /^[ \t]*require\s+["']([^"'\n]+)["']/gm,
  /^[ \t]*use\s+([A-Z][\w:]*)/gm,
]

/** Parts of such modules that do use it. */
const online =
  /^(?:logging\.(?:handlers|config)|multiprocessing\.(?:connection|managers)|concurrent\.interpreters|tkinter\.dnd)$/
const strangeLoop =
  /\basyncio\.(?!(?:run|sleep|gather|wait|wait_for|create_task|ensure_future|Queue|Lock|Semaphore|BoundedSemaphore|Event|Condition|to_thread|timeout|TaskGroup|Task|Future|as_completed|shield|CancelledError|TimeoutError|iscoroutine\w*|get_running_loop|get_event_loop|new_event_loop|set_event_loop\w*|create_subprocess_\w+|subprocess|current_task|all_tasks|Runner|run_coroutine_threadsafe)\b)\w+/

/** The first module that a program loads of which nobody has said that it uses no network. */
function strangeModule(code: string): string | undefined {
  if (strangeLoop.test(code)) return "asyncio"
  for (const pattern of loads)
    for (const [, list = ""] of code.matchAll(pattern))
      for (const written of list.split(",")) {
        const name = (written.trim().split(/\s/)[0] ?? "").replace(/^node:/, "")
        if (name === "" || /^[./]/.test(name)) continue
        const root = name.split(/[./]|::/)[0] ?? ""
        if (online.test(name) || (!offline.has(name) && !offline.has(root))) return name
      }
  return undefined
}
