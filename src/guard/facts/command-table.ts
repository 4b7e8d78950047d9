/** What a command may do to the world. */
export type Effect =
  | "read"
  | "write"
  | "delete"
  | "network"
  | "install"
  | "privilege"
  | "send"
  | "deploy"
  | "execute"
  | "control-off"
  | "remote-code"

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(" "))

/** Commands that only look, beside what their options may do. */
const readers = setOf(
  "cat bat nl head tail less more wc stat file strings xxd od hexdump jq yq cut sort uniq column grep egrep fgrep rg ag ack find fd locate which whereis ls dir tree pwd du df echo printf true false test [ : cd pushd popd date whoami hostname uname id ps env printenv type get-content gc select-string get-childitem gci diff cmp comm md5sum sha256sum sha1sum base64 base32 tr rev awk gawk sed basename dirname realpath readlink sleep wait top free uptime lsof netstat ss history man help fold paste join tac seq expr let bc dirs alias ulimit umask jobs time yes tput clear read shift return exit break continue set unset export local declare readonly source . zcat zgrep gzcat iconv look getent groups last w who lscpu lsblk mount dmesg journalctl",
)

const table: readonly (readonly [Effect, ReadonlySet<string>])[] = [
  [
    "delete",
    setOf("rm rmdir unlink shred srm del erase rd remove-item ri wipefs mkfs fdisk parted dropdb dropuser trash wipe"),
  ],
  [
    "write",
    setOf(
      "cp mv touch mkdir ln install tee dd truncate chmod chown chgrp chattr setfacl rsync tar unzip zip gzip gunzip patch ed ex vi vim nano emacs set-content sc add-content ac out-file new-item ni copy-item move-item rename-item mkfifo mktemp split csplit crontab at xattr sponge dos2unix createdb psql mysql mariadb sqlite3 mongosh mongo redis-cli sqlcmd cqlsh bq snowsql clickhouse-client",
    ),
  ],
  [
    "network",
    setOf(
      "curl wget http https httpie nc ncat netcat socat telnet ssh scp sftp ftp lftp rsync dig nslookup host ping traceroute nmap aria2c lynx links w3m invoke-webrequest iwr invoke-restmethod irm start-bitstransfer aws gcloud az gsutil s3cmd rclone kubectl helm docker podman terraform pulumi heroku vercel netlify flyctl wrangler gh glab mail mailx sendmail mutt swaks msmtp ssmtp nuget twine cloudflared ngrok openssl tftp whois psql mysql mongosh redis-cli hub",
    ),
  ],
  [
    "install",
    setOf(
      "apt apt-get yum dnf apk pacman brew pip pip3 pipx npm pnpm yarn bun gem cargo go choco winget snap conda uv poetry",
    ),
  ],
  [
    "privilege",
    setOf("sudo su doas runas pkexec chroot setcap visudo useradd usermod adduser userdel passwd chpasswd gpasswd"),
  ],
  ["send", setOf("mail mailx sendmail mutt swaks msmtp ssmtp telegram-send slackcat")],
  [
    "deploy",
    setOf(
      "terraform pulumi helm ansible ansible-playbook serverless sls cdk sam eb heroku vercel netlify flyctl wrangler kubectl",
    ),
  ],
  [
    "execute",
    setOf(
      "bash sh zsh dash ksh fish python python3 python2 node deno bun ruby perl php pwsh powershell cmd osascript lua rscript java dotnet make npx eval source . exec xargs parallel ssh docker kubectl",
    ),
  ],
]

/** Said by a command's first words: which of its ways only look, and which do more than its name tells. */
const phrases: readonly (readonly [Effect, RegExp])[] = [
  [
    "write",
    /^(?:sed|perl|gawk|awk) (?:\S+ )*(?:-i|--in-place|-pi)|^awk .*(?:system\(|print\s*>)|^sort .*-o\b|^yq .*-i\b/,
  ],
  [
    "delete",
    /^find .*(?:-delete\b|-exec(?:dir)? (?:rm|shred|unlink)\b)|^git (?:clean|branch -D|push \S* ?(?:--delete|:))/i,
  ],
  [
    "delete",
    /^(?:kubectl|oc|k) (?:\S+ )*delete\b|^(?:terraform|pulumi|cdk|sls|serverless) (?:\S+ )*(?:destroy|remove)\b|^helm (?:uninstall|delete)\b/,
  ],
  [
    "delete",
    /^aws (?:\S+ )*(?:delete-|terminate-|rb\b|rm\b|deregister-|purge-)|^(?:gcloud|az|gsutil|doctl|flyctl|heroku) (?:\S+ )*(?:delete|destroy|rm|rb|purge)\b|^heroku \S*(?:destroy|reset)/,
  ],
  [
    "delete",
    /^(?:docker|podman) (?:\S+ )*(?:rm|rmi|prune|kill)\b|^redis-cli .*\bflush(?:all|db)\b|^(?:mongo|mongosh) .*(?:drop|deletemany)/i,
  ],
  [
    "deploy",
    /^git push\b|^(?:docker|podman) push\b|^(?:npm|pnpm|yarn|cargo|twine|gem) (?:publish|upload|push)\b|^(?:aws|gcloud|az) (?:\S+ )*(?:deploy|create-|update-|put-|run-instances|apply)/,
  ],
  ["network", /^git (?:clone|fetch|pull|push|remote add|ls-remote)\b/],
  ["install", /^(?:npx|bunx|uvx|pipx run) /],
  [
    "send",
    /^curl .*(?:--mail-rcpt|smtps?:)|^curl .*(?:-d|--data\S*|-F|--form|-T|--upload-file)[ =]|^wget .*--post|^(?:nc|ncat|netcat|socat|scp|sftp|rsync|ftp) .*[\w.]|^aws s3 (?:cp|mv|sync) \S+ s3:|^gsutil .*(?:cp|mv) \S+ gs:|^rclone (?:copy|sync|move)\b/,
  ],
  [
    "write",
    /^git (?:add|commit|checkout|switch|reset|merge|rebase|stash|apply|am|cherry-pick|revert|tag -|config (?!--get)|rm|mv|init|restore|pull|clone|clean)\b/,
  ],
  [
    "write",
    /^systemctl (?:start|stop|restart|enable|disable|mask|kill)\b|^service \S+ (?:start|stop|restart)|^(?:kill|killall|pkill|reboot|shutdown|halt|poweroff|iptables|nft|ufw|sysctl|setenforce|auditctl)\b/,
  ],
]

const lookOnly: readonly RegExp[] = [
  /^git (?:-\S+ )*(?:status|log|diff|show|blame|branch(?! -[dDmM])|remote(?! add| set| remove)|rev-parse|ls-files|grep|describe|config --get|ls-remote|shortlog|reflog)\b/,
  /^(?:kubectl|oc) (?:-\S+(?: \S+)? )*(?:get|describe|logs|top|explain|version|config view|cluster-info|api-resources)\b/,
  /^(?:docker|podman) (?:ps|images|logs|inspect|version|info|stats|top)\b/,
  /^(?:terraform|tofu) (?:plan|show|validate|output|fmt -check|version|state list)\b|^helm (?:list|status|get|history|template)\b|^pulumi preview\b/,
  /^aws (?:--\S+(?: \S+)? )*\S+ (?:describe-|get-(?!secret)|list-|ls\b)|^gcloud (?:\S+ )*(?:list|describe)\b|^az (?:\S+ )*(?:list|show)\b/,
  /^(?:npm|pnpm|yarn) (?:ls|list|view|outdated|audit(?! fix)|test|run (?:test|lint|check|build|typecheck))\b|^(?:pip3?|uv pip) (?:list|show|freeze|check)\b/,
  /^systemctl (?:status|list-\w+|is-\w+|show)\b|^(?:cargo|go) (?:test|check|vet|clippy|build|version)\b|^(?:apt|brew|dnf|yum) (?:list|search|show|info)\b/,
  /^(?:node|python3?|ruby|java|go|cargo|npm|docker|git) (?:-v|-V|--version|version)$/,
  /^iptables (?:-L|--list|-S)|^ufw status|^auditctl -[ls]|^crontab -l|^(?:tar|unzip) -?(?:t|l)\w*(?: |$)/,
  /^(?:pytest|vitest|jest|tsc|eslint|ruff|mypy|biome|npx (?:vitest|jest|tsc|eslint|biome))\b/,
]

/** What a command does, by its name and its first words. What is not known may write. */
export function effectsOf(name: string, line: string): ReadonlySet<Effect> {
  const seen = line.slice(0, 2_000)
  const effects = new Set<Effect>()
  if (lookOnly.some((pattern) => pattern.test(seen))) {
    effects.add("read")
    for (const [effect, names] of table) if (effect === "network" && names.has(name)) effects.add(effect)
    return effects
  }
  for (const [effect, names] of table) if (names.has(name)) effects.add(effect)
  for (const [effect, pattern] of phrases) if (pattern.test(seen)) effects.add(effect)
  if (readers.has(name)) effects.add("read")
  else if (effects.size === 0) effects.add("write")
  return effects
}

/** Ways to take away more than one thing, each with what it hits. */
export const destructions: readonly (readonly [kind: "files" | "data" | "infrastructure" | "repository", RegExp])[] = [
  [
    "files",
    /^(?:rm|remove-item|ri|del|rd) (?:.* )?(?:-\w*[rR]\w*|--recursive|-recurse|\/s)\b|^(?:shred|srm|wipefs|mkfs\S*)\b|^dd .*\bof=\/dev\/|^find .*(?:-delete\b|-exec(?:dir)? (?:rm|shred)\b)|^git clean -\w*f/i,
  ],
  [
    "data",
    /^dropdb\b|^redis-cli .*\bflush(?:all|db)\b|\bdropdatabase\b|\.drop(?:collection)?\(|\bdeletemany\(\s*(?:\{\s*\})?\s*\)|^heroku pg:reset|\b(?:migrate:(?:fresh|reset)|db:(?:drop|reset|purge)|migrate reset|schema:drop|flush --no-input)\b/i,
  ],
  [
    "infrastructure",
    /^(?:kubectl|oc|k) (?:\S+ )*(?:delete|drain)\b|^(?:terraform|tofu|pulumi|cdk|sls|serverless) (?:\S+ )*(?:destroy|remove|-destroy)\b|^helm (?:\S+ )*(?:uninstall|delete)\b|^aws (?:\S+ )*(?:delete-|terminate-|rb\b|rm (?:\S+ )*--recursive|purge-)|^(?:gcloud|az|gsutil|doctl|flyctl|heroku) (?:\S+ )*(?:delete|destroy|purge|rm -r|apps:destroy)|^(?:docker|podman) (?:volume rm|system prune|volume prune)/,
  ],
  ["repository", /^git push (?:\S+ )*(?:--force(?!-with-lease)\b|-f\b|--delete\b|--mirror\b|:\S)/],
]

/** What a piece of program text does as far as its calls say, with the texts quoted in it. */
type CodeFacts = {
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
