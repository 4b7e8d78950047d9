import { namedPatterns, wordSet, wordSetsOf } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import { entriesOf, type Words } from "../../message/present.ts"
import words from "./command-words.json" with { type: "json" }
import { operandsOf } from "./options.ts"
import { anyWord } from "./words.ts"

/** Kinds of effects of a command. */
export type Effect = Words<"read write delete network install privilege send deploy execute remote-code pay unknown">

/** True if a command with these effects changes something. */
export const changesSomething = (effects: ReadonlySet<Effect>): boolean =>
  (["write", "delete", "send", "deploy", "install"] as const).some((effect) => effects.has(effect))

/** Commands that only read, unless their options do more. */
const readers = wordSet(...words.readers)

const table: readonly (readonly [Effect, ReadonlySet<string>])[] = wordSetsOf(words.effects)

/** Effects that show in a command's first words and options, beyond those of the program itself. */
const phrases: readonly (readonly [Effect, RegExp])[] = namedPatterns({
  write: [
    /^(?:g?sed|perl|ruby|gawk|awk) (?:\S+ )*(?:-[\dacnlpswuEr]*i|--in-place)|^[gm]?awk .*(?:system\(|print[^|;}]*>)|^sed .*(?:[\s;'"/}\d]w \S)|^sort .*-o\b|^yq .*-i\b/,
    /^curl .*(?:-o|-O|--output|--remote-name|-c|--cookie-jar|--dump-header)\b|^wget (?!.*(?:-O ?-|--output-document=-|-q?O -|--spider))/,
    // Programs that otherwise only read, with options that write.
    /^find .*-f(?:printf?0?|ls)\b|^date (?:.* )?(?:-s|--set)|^hostname [a-z\d]|^g?sed (?:.* )?(?:\S*[\d$/;{}])?w \S/,
    /^git (?:add|commit|checkout|switch|reset|merge|rebase|stash|apply|am|cherry-pick|revert|tag -|config (?!--get)|rm|mv|init|restore|pull|clone|clean)\b/,
    /^systemctl (?:start|stop|restart|enable|disable|mask|kill)\b|^service \S+ (?:start|stop|restart)|^(?:kill|killall|pkill|reboot|shutdown|halt|poweroff|iptables|nft|ufw|sysctl|setenforce|auditctl)\b/,
  ],
  delete: [
    /^journalctl .*--(?:vacuum|rotate|relinquish)/,
    /^find .*(?:-delete\b|-exec(?:dir)? (?:rm|shred|unlink)\b)|^git (?:clean|branch -D|push \S* ?(?:--delete|:))/i,
    /^(?:kubectl|oc|k) (?:\S+ )*delete\b|^(?:terraform|pulumi|cdk|sls|serverless) (?:\S+ )*(?:destroy|remove)\b|^helm (?:uninstall|delete)\b/,
    /^aws (?:\S+ )*(?:delete-|terminate-|rb\b|rm\b|deregister-|purge-)|^(?:gcloud|az|gsutil|doctl|flyctl|heroku) (?:\S+ )*(?:delete|destroy|rm|rb|purge)\b|^heroku \S*(?:destroy|reset)/,
    /^(?:docker|podman) (?:\S+ )*(?:rm|rmi|prune|kill)\b|^redis-cli .*\bflush(?:all|db)\b|^(?:mongo|mongosh) .*(?:drop|deletemany)/i,
  ],
  deploy: [
    /^git (?:push|send-pack|http-push)\b|^(?:docker|podman) push\b|^(?:npm|pnpm|yarn|cargo|twine|gem) (?:publish|upload|push)\b|^(?:aws|gcloud|az) (?:\S+ )*(?:deploy|create-|update-|put-|run-instances|apply)/,
  ],
  network: [
    /^git (?:clone|fetch|pull|push|remote add|ls-remote|send-pack|fetch-pack|http-push|http-fetch|archive --remote|submodule|svn)\b/,
    /^getent (?:a?hosts(?:v[46])?|networks|services) |^(?:jj|hg|svn|sl|bzr|brz|fossil|dvc|dolt) (?:\S+ )*(?:push|pull|fetch|clone|sync)\b/,
  ],
  install: [/^(?:npx|bunx|uvx|pipx run) /],
  send: [
    new RegExp(
      anyOf(
        "^curl .*(?:--mail-rcpt|smtps?:)",
        "^curl .*(?:-d|--data\\S*|-F|--form|-T|(?<=\\s)-[a-zA-Z]{1,6}[dFT](?= |$)|--upload-file|--json)[ =@]?",
        '^(?:curl|http|xh|wget) .*(?:-X|--request|--method)[ =]?"?(?:post|put|patch|delete)\\b',
        "^(?:curl|http|xh|wget) .*-X(?:POST|PUT|PATCH|DELETE)\\b|^https? (?:post|put|patch|delete)\\b",
        "^wget .*--(?:post|body)|^invoke-\\w+ .*-method (?:post|put|patch|delete)",
        "^(?:nc|ncat|netcat|socat|sftp|ftp) .*[\\w.]",
      ),
    ),
    // Issues, comments and reviews are read by people.
    /^(?:gh|glab) (?:issue|pr|mr|discussion|release|gist|snippet|incident) (?:comment|create|new|edit|note|review|close|reopen|reply|update)\b/,
  ],
})

const lookOnly: readonly RegExp[] = [
  /^git (?:-\S+ )*(?:status|log|diff|show|blame|branch(?! -[dDmM])|remote(?! add| set| remove)|rev-parse|ls-files|grep|describe|config --get|shortlog|reflog)\b/,
  /^(?:kubectl|oc) (?:-\S+(?: \S+)? )*(?:get|describe|logs|top|explain|version|config (?:view|get-contexts|current-context)|cluster-info|api-resources|api-versions|rollout (?:status|history)|auth can-i|diff|wait|events)\b/,
  /^(?:docker|podman) (?:compose (?:-\S+(?: \S+)? )*)?(?:ps|images|logs|inspect|version|info|stats|top|port|history|config)\b|^(?:docker|podman) (?:image|container|volume|network) (?:ls|inspect)\b/,
  /^(?:terraform|tofu) (?:-\S+ )*(?:plan|show|validate|output|fmt -check|version|state list|workspace (?:select|list|show))\b|^helm (?:list|status|get|history|template|show|search|lint)\b|^pulumi preview\b/,
  /^aws (?:--\S+(?: \S+)? )*\S+ (?:describe-|get-(?!secret)|list-|lookup-|search-|validate-|simulate-|head-|ls\b|tail\b|filter-log-events)|^gcloud (?:\S+ )*(?:list|describe)\b|^az (?:\S+ )*(?:list|show)\b/,
  /^(?:npm|pnpm|yarn) (?:ls|list|view|outdated|audit(?! fix)|test|run (?:test|lint|check|build|typecheck))\b|^(?:pip3?|uv pip) (?:list|show|freeze|check)\b/,
  /^systemctl (?:status|list-\w+|is-\w+|show)\b|^(?:cargo|go) (?:test|check|vet|clippy|build|version)\b|^(?:apt|brew|dnf|yum) (?:list|search|show|info)\b/,
  /^(?:gh|glab|hub) (?:\S+ )?(?:list|view|status|diff|checks|watch|browse|search)\b|^gh api (?!.*(?:-X|--method|-f|-F|--field|--input))|^gh auth status/,
  /^\S+ version$/,
  /^iptables (?:-L|--list|-S)|^ufw status|^auditctl -[ls]|^crontab -l|^(?:tar|unzip) -?(?:t|l)\w*(?: |$)/,
  /^(?:pg_dump|pg_dumpall|pg_isready|mysqldump|mongodump)\b/,
  /^(?:pytest|vitest|jest|tsc|eslint|ruff|mypy|biome|npx (?:vitest|jest|tsc|eslint|biome))\b/,
  new RegExp(
    anyOf(
      `^${anyOf(words.checkers)}\\b`,
      "^(?:prettier|black|isort|rustfmt|clang-format|gofmt) .*(?:--check|--diff|--dry-run|-l|-d|-n)(?: |$)",
    ),
  ),
]

const repairWays = anyOf(
  ` --${anyOf(words.repairOptions)}(?=[ =]|$)`,
  " -u$| format(?! .*--check)\\b| fmt(?! .*--check)\\b",
)
/** Matches checkers with an option to fix what they find: they write files, whatever they do otherwise. */
const repairs = new RegExp(`^${anyOf(words.repairers)}(?= ).*${repairWays}`)

const local = wordSet(...words.local)

/** Match sub-commands and options with which build tools, checkers and editors download what they need. */
const fetches = new RegExp(
  `^(?:\\S+ ){1,3}?${anyOf(words.fetchVerbs, `(?:[\\w.-]+:)?${anyOf(words.buildGoals)}`)}(?= |$)`,
)
const fetchOptions =
  /^\S+ (?:.* )?--(?:install-extension|update-extensions|refresh-dependencies|with-deps|update-snapshots-of)(?=[ =]|$)/
/** Build tools whose `install` and `update` only put into place what they have built. */
const placesOnly = wordSet(...words.placesOnly)

/** Database clients: they do what their statements say. */
const clients = wordSet(...words.clients)

/** Programs that act on remote systems, and change them unless they are known to only look. */
const clouds = wordSet(...words.clouds)

/** True for programs that only read, unless their options do more. */
export const isReader = (name: string): boolean => readers.has(name)

/** True for programs of a developer's machine that build, test and check: they run the project's own code and nothing else. */
export const isLocalProgram = (name: string): boolean => local.has(name)

/** Effects of a command, by its name and its first words; `unknown` for a program that is not listed. */
export function effectsOf(name: string, line: string): ReadonlySet<Effect> {
  const bare = clouds.has(name) ? line.replace(/^(\S+)(?: --?[\w-]+(?:=\S*| (?!-)\S+(?= ))?)+/, "$1") : line
  const seen = bare.slice(0, 2_000)
  const effects = new Set<Effect>()
  if (/^\S+ (?:-v|-V|--version|--help|-h|help)$/.test(line)) return new Set<Effect>(["read"])
  if (repairs.test(seen)) effects.add("write")
  else if (lookOnly.some((pattern) => pattern.test(seen))) {
    effects.add("read")
    // Commands that inspect containers talk to a service of this machine, unless they are given another.
    const isHere = /^(?:docker|podman) /.test(line) && !/ (?:-H|--host|-c|--context)[ =]/.test(line)
    if (!isHere) for (const [effect, names] of table) if (effect === "network" && names.has(name)) effects.add(effect)
    return effects
  }
  for (const [effect, names] of table) if (names.has(name)) effects.add(effect)
  if (clouds.has(name)) effects.add("network")
  if (effects.size === 0 && clients.has(name)) effects.add("read")
  for (const [effect, pattern] of phrases) if (pattern.test(seen)) effects.add(effect)
  // Installs only from packages that are here already.
  if (
    /^(?:pip3?|uv|npm|pnpm|yarn|bun|gem|cargo|conda|python3?) (?=.*(?:--no-index|--offline|--local)(?: |=|$)).*\b(?:install|ci|add|i)\b/.test(
      line,
    ) &&
    !/https?:\/\/|git\+/.test(line)
  ) {
    effects.delete("install")
    effects.add("write")
  }
  // Runs an image that is here already, without a network.
  if (/^(?:docker|podman) run (?=.*--net(?:work)?[= ]none(?: |$))(?=.*--pull[= ]never(?: |$))/.test(line)) {
    effects.delete("network")
    return effects
  }
  if (clouds.has(name) && !effects.has("delete") && !effects.has("deploy")) effects.add("write")
  // The verb of a cmdlet says what it does.
  const [verb = ""] = /^[a-z]+(?=-[a-z]{3})/.exec(name) ?? []
  if (/^(?:remove|clear|uninstall|stop|disable)$/.test(verb)) effects.add("delete")
  else if (/^(?:set|new|add|out|copy|move|rename|enable|start|restart|update|publish|import|install)$/.test(verb))
    effects.add("write")
  if (
    /^(?:get|select|test|measure|compare|where|sort|format|convertto|convertfrom|write|read|find|show)$/.test(verb) &&
    effects.size === 0
  )
    effects.add("read")
  if (/^(?:test-netconnection|test-connection|resolve-dnsname)$/.test(name)) effects.add("network")
  if (readers.has(name)) effects.add("read")
  else if (local.has(name)) {
    effects.add("write")
    effects.add("execute")
    const isOffline = / (?:-o|--offline)(?= |$)/.test(seen)
    if ((fetches.test(seen) && !placesOnly.has(name) && !isOffline) || fetchOptions.test(seen)) effects.add("install")
  } else if (effects.size === 0) effects.add("unknown")
  return effects
}

const packageBuilds = anyOf(
  `cargo (?:\\+\\S+ )?${anyOf(words.cargoBuilds)}`,
  "go (?:build|test|run|vet|list|generate|install|mod|get)|(?:\\./)?(?:mvnw?|gradlew?|sbt)(?! .*--version)",
  "dotnet (?:build|test|run|publish|pack|restore)|swift (?:build|test|run)",
  "(?:stack|cabal|mix|flutter|dart|rebar3|lein|clj|bazel|buck2?) (?:.* )?(?:build|test|run|compile|deps|pub|get)",
  words.packageResolvers,
)
/** Match build tools that download the dependencies of a project before they build it, and the options and variables that prevent it. */
const resolvesPackages = new RegExp(`^${packageBuilds}\\b`)
const hasPackages =
  / (?:--offline|-o|--frozen|-mod[= ]vendor|--no-restore|--no-isolation|--no-build-isolation|--skip-update|--disable-sandbox|--no-fetch|--no-sync|--network[= ]none|--no-deps-check|--plugin-dir\S*)(?= |$)/
const offlineVariable = /^(?:GOFLAGS|GOPROXY|CARGO_NET_OFFLINE|UV_OFFLINE|PIP_NO_INDEX)$/

/** True if a build tool downloads dependencies that are missing. */
export const fetchesPackages = (line: string, variables: readonly string[]): boolean =>
  resolvesPackages.test(line) && !hasPackages.test(line) && !variables.some((name) => offlineVariable.test(name))

// Dry runs

type DryRun = {
  /** Sub-commands that have a dry run. */
  readonly verbs?: RegExp
  /** Its option, alone or in a bundle of short ones that take no value. */
  readonly option: RegExp
  /** Short options that take no value, so that the word after one is an option. */
  readonly flags?: RegExp
}

const longOption: DryRun = { option: /^--dry-run$/ }
const aptDryRun: DryRun = { option: /^(?:--(?:simulate|dry-run|just-print|no-act)|-s)$/, flags: /^-[yqd]+$/ }
const inCluster: DryRun = { option: /^--dry-run=(?:client|server)$/ }

const dryRuns: Readonly<Record<string, readonly DryRun[] | undefined>> = {
  git: [
    {
      verbs: /^(?:push|add|rm|mv|clean|prune)$/,
      option: /^(?:--dry-run|-[fuvqdxXrA]*n[fuvqdxXrA]*)$/,
      flags: /^-[fuvqdxXrA]+$/,
    },
    { verbs: /^(?:commit|fetch|send-email|gc|notes)$/, option: /^--dry-run$/ },
  ],
  rsync: [
    {
      option: /^(?:--dry-run|-[avzhrlptgouHAXPSDxcqWi]*n[avzhrlptgouHAXPSDxcqWi]*)$/,
      flags: /^-[avzhrlptgouHAXPSDxcqWi]+$/,
    },
  ],
  rclone: [{ option: /^(?:--dry-run|-n)$/, flags: /^-[vqPi]+$/ }],
  patch: [longOption],
  npm: [{ verbs: /^(?:publish|unpublish|pack|version|i|install|ci|uninstall|prune|dedupe)$/, option: /^--dry-run$/ }],
  pnpm: [{ verbs: /^publish$/, option: /^--dry-run$/ }],
  cargo: [{ verbs: /^(?:publish|add|remove|update)$/, option: /^(?:--dry-run|-n)$/ }],
  poetry: [{ verbs: /^(?:publish|install|update|remove|add)$/, option: /^--dry-run$/ }],
  pip: [{ verbs: /^install$/, option: /^--dry-run$/ }],
  pip3: [{ verbs: /^install$/, option: /^--dry-run$/ }],
  kubectl: [inCluster],
  oc: [inCluster],
  helm: [{ verbs: /^(?:install|upgrade|uninstall|delete|rollback)$/, option: /^--dry-run(?:=(?:client|server))?$/ }],
  aws: [
    { verbs: /^s3$/, option: /^--dryrun$/ },
    { verbs: /^ec2$/, option: /^--dry-run$/ },
  ],
  "ansible-playbook": [{ option: /^(?:--check|-C)$/, flags: /^-[vbDK]+$/ }],
  apt: [aptDryRun],
  "apt-get": [aptDryRun],
  brew: [{ verbs: /^(?:install|uninstall|upgrade|cleanup|autoremove)$/, option: /^(?:--dry-run|-n)$/ }],
}

/** Matches long options that take no value in any of these programs, and those with their value in the same word. */
const valueless =
  /^--(?:force|force-with-lease|force-if-includes|tags|follow-tags|all|delete|mirror|prune|verbose|quiet|no-verify|set-upstream|atomic|archive|recursive|compress|stats|progress|yes|cached|install|[\w-]+=.*)$/

/** True if an option that is documented for it makes a command only say what it would do. */
export function isDryRun(name: string, words: readonly string[]): boolean {
  const kinds = Object.hasOwn(dryRuns, name) ? dryRuns[name] : undefined
  if (kinds === undefined) return false
  const end = words.indexOf("--")
  const options = end < 0 ? words : words.slice(0, end)
  // Git accepts abbreviated long options; npm takes a value as the next word.
  if (anyWord(options, /^--no-(?:d|n$)|^--dry-?run=(?:false|none|0|no)$/)) return false
  const [verb = ""] = operandsOf(words, /^-[cC]$/)
  return kinds.some(
    ({ verbs, option, flags }) =>
      verbs?.test(verb) !== false &&
      options.some((word, at) => {
        const before = options[at - 1] ?? ""
        const isOption = !before.startsWith("-") || valueless.test(before) || flags?.test(before) === true
        return option.test(word) && isOption && !/^(?:false|none|0|no)$/.test(options[at + 1] ?? "")
      }),
  )
}

/** Matches ways to destroy more than one thing, by the kind of what is destroyed. */
export const destructions: readonly (readonly [kind: "files" | "data" | "infrastructure" | "repository", RegExp])[] =
  entriesOf({
    files:
      /^(?:rm|remove-item|ri|del|rd|rmdir) (?:.* )?(?:-\w*[rR]\w*|--recursive|-recurse|\/s)(?= |$)|^(?:shred|srm|wipefs|mkfs\S*)\b|^dd .*\bof=\/dev\/|^find .*(?:-delete\b|-exec(?:dir)? (?:rm|shred)\b)|^git clean -\w*f/i,
    data: new RegExp(
      anyOf(
        "^dropdb\\b|^redis-cli .*\\bflush(?:all|db)\\b|\\bdropdatabase\\b|\\.drop(?:collection)?\\(",
        "\\bdeletemany\\(\\s*(?:\\{\\s*\\})?\\s*\\)|^heroku pg:reset",
        "\\b(?:migrate:(?:fresh|reset)|db:(?:drop|reset|purge)|migrate reset|schema:drop|flush --no-input)\\b",
      ),
      "i",
    ),
    infrastructure: new RegExp(
      anyOf(
        "^(?:kubectl|oc|k) (?:\\S+ )*(?:delete|drain)\\b",
        "^(?:terraform|tofu|pulumi|cdk|sls|serverless) (?!(?:\\S+ )*plan\\b)(?:\\S+ )*(?:destroy|remove|-destroy)\\b",
        "^helm (?:\\S+ )*(?:uninstall|delete)\\b",
        "^aws (?:\\S+ )*(?:delete-|terminate-|rb\\b|rm (?:\\S+ )*--recursive|purge-)",
        "^(?:gcloud|az|gsutil|doctl|flyctl|heroku) (?:\\S+ )*(?:delete|destroy|purge|rm -r|apps:destroy)",
        "^(?:docker|podman) (?:volume rm|system prune|volume prune)",
      ),
    ),
    repository: new RegExp(
      anyOf(
        "^(?:rm|rmdir|rd|del|mv|shred|unlink|remove-item|ri|find) (?:.* )?\\S*[\\w-]\\.git/?(?= |$)",
        "^git (?:push|send-pack|http-push) (?:.* )?(?:--force\\S*|-[a-z]*[fd][a-z]*|--delete|--mirror|--prune|[+:]\\S*)(?: |$)",
        "^git config (?:\\S+ )*remote\\.\\S+\\.(?:push [+:]|mirror (?:true|yes|on|1))",
        "^git remote add (?:\\S+ )*--mirror|^(?:gh|glab) repo (?:delete|archive|transfer)\\b|^git delete\\b",
        "^(?:gh|glab) api .*(?:-X ?delete|--method[ =]delete|\\bforce=true|\\bmutation\\b.*\\b(?:delete|archive|force)\\w*)",
        "^(?:jj|hg|sl|bzr|brz|fossil|dvc|dolt) (?:\\S+ )*push (?:.* )?(?:--?f(?:orce)?|--deleted?|--overwrite|--allow-\\w+)(?: |$)",
        "^svn (?:delete|del|rm|remove) (?:.* )?[a-z+]+://",
        "^(?:curl|wget|https?|xh) (?=.*(?:/repos/|/api/v4/projects/))(?:.*(?:-X ?delete|--(?:request|method)[ =]delete)|delete )",
        '^(?:curl|wget|https?|xh) (?=.*/git/refs/).*"?force"?\\s?[:=]+\\s?true',
      ),
      "i",
    ),
  })

/** Matches commands that select the target of the commands that follow. */
export const selects = new RegExp(`^${anyOf(words.selections)} (?:-\\S+ )*(\\S+)`)

/** Matches git commands that delete or rewrite refs; in a shared repository those are the refs of others. */
export const deletesRefs =
  /^git (?:branch (?:.* )?(?:-\w*[dD]\w*|--delete)(?: |$)|tag (?:.* )?(?:-d|--delete)(?: |$)|update-ref (?:.* )?(?:-d|--delete|--stdin)(?: |$)|reflog (?:expire|delete)|filter-branch|filter-repo|for-each-ref .*delete)/
