import { type Command, type Commands, isGroup, misuse, type Options, wordsAbout } from "./command.ts"

const shells = ["bash", "zsh", "fish"] as const
/** The words that may follow a command's name; `path` is the name, or group and name. */
type Completion = {
  readonly path: string
  readonly summary: string
  readonly options: Options
  /** Names that come next: those of a group's commands, or of the clients that can be wrapped. */
  readonly words: readonly string[]
  /** The name of a session comes next. */
  readonly takesSession: boolean
}

/** Prints a script with which a shell completes commands and options; only session names are read from the store. */
export const createCompletionCommand = (
  commands: Commands,
  wordsOf: Readonly<Record<string, readonly string[]>>,
): Command => ({
  options: {},
  maxPositionals: 1,
  run: async ({ positionals: [name] }, { stdout }) => {
    const shell = shells.find((known) => known === name)
    if (shell === undefined)
      return misuse(
        name === undefined ? "It was not said for which shell." : `There is no completion for ${name}.`,
        `Write holdfast completion ${shells.join(" | ")}`,
      )
    await stdout.write(scripts[shell](await readCompletions(commands, wordsOf)))
    return 0
  },
})

async function readCompletions(
  commands: Commands,
  wordsOf: Readonly<Record<string, readonly string[]>>,
): Promise<readonly Completion[]> {
  const found: Completion[] = []
  for (const [path, load] of commands) {
    const loaded = await load()
    if (!isGroup(loaded)) {
      found.push({ ...completionOf(path, loaded), words: wordsOf[path] ?? [] })
      continue
    }
    const { summary } = wordsAbout(path)
    found.push({ path, summary, options: {}, words: [...loaded.commands.keys()], takesSession: false })
    for (const [name, command] of loaded.commands)
      found.push({ ...completionOf(`${path} ${name}`, command), words: [] })
  }
  return found
}

function completionOf(path: string, { options }: Command) {
  const { summary, usage = "" } = wordsAbout(path)
  const named = path.startsWith("sessions ") ? / \[?ID\b/ : /^[a-z]+(?: \[?[a-z]+\]?)? \[?SESSION\b/
  return { path, summary, options, takesSession: named.test(usage) }
}

/** The shell command that prints the names of the newest sessions. */
const sessionNames = `{ echo @last; holdfast sessions list --json 2>/dev/null | grep -o '"name":"[^"]*"' | cut -d'"' -f4; }`

const optionNames = (options: Options): readonly string[] =>
  [...Object.keys(options), "help"].map((name) => `--${name}`)
const valuesIn = (options: Options): readonly (readonly [string, readonly string[]])[] =>
  Object.entries(options).flatMap(([name, { oneOf }]) => (oneOf === undefined ? [] : [[`--${name}`, oneOf] as const]))

const isInner = ({ path }: Completion): boolean => path.includes(" ")

function bashScript(completions: readonly Completion[]): string {
  const top = completions.filter((one) => !isInner(one)).map(({ path }) => path)
  const cases = completions.map(({ path, words, options, takesSession }) => {
    const values = valuesIn(options).map(([name, oneOf]) => `${name}) values="${oneOf.join(" ")}" ;;`)
    const asked = takesSession ? ` sessions=${path.split(" ").length + 1}` : ""
    return `    "${path}") words="${words.join(" ")}"${asked} options="${optionNames(options).join(" ")}"
      case "$before" in ${values.join(" ")} *) ;; esac ;;`
  })
  return `_holdfast() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path="\${COMP_WORDS[1]}" words="" options="" values="" sessions=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${top.join(" ")} help --help --version" -- "$cur"))
    return
  fi
  case "$path" in ${completions
    .filter(({ path }) => completions.some((one) => one.path.startsWith(`${path} `)))
    .map(({ path }) => path)
    .join("|")}) [ "$COMP_CWORD" -gt 2 ] && path="$path \${COMP_WORDS[2]}" ;; esac
  case "$path" in
${cases.join("\n")}
  esac
  if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$cur"))
  elif [[ "$cur" == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [ -n "$words" ] && [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W "$words" -- "$cur"))
  elif [ "$COMP_CWORD" = "$sessions" ]; then COMPREPLY=($(compgen -W "$(${sessionNames})" -- "$cur"))
  else COMPREPLY=()
  fi
}
complete -o default -F _holdfast holdfast
`
}

const zshScript = (completions: readonly Completion[]): string =>
  `autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(completions)}`

const fishText = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`

function fishScript(completions: readonly Completion[]): string {
  const lines = completions.flatMap((one) => {
    const { path, summary, options, words, takesSession } = one
    const [outer = "", inner] = path.split(" ")
    const seen =
      inner === undefined
        ? `__fish_seen_subcommand_from ${outer}`
        : `__fish_seen_subcommand_from ${outer}; and __fish_seen_subcommand_from ${inner}`
    const named = isInner(one)
      ? `complete -c holdfast -n '__fish_seen_subcommand_from ${outer}' -a ${inner} -d ${fishText(summary)}`
      : `complete -c holdfast -n __fish_use_subcommand -a ${outer} -d ${fishText(summary)}`
    return [
      named,
      ...(words.length === 0 || completions.some(({ path: other }) => other.startsWith(`${path} `))
        ? []
        : [`complete -c holdfast -n '${seen}' -a '${words.join(" ")}'`]),
      ...(takesSession
        ? [
            `complete -c holdfast -f -n '${seen}' -a "(${sessionNames
              .replace(/^\{ (.*); \}$/, "$1")

              .replaceAll('"', '\\"')})"`,
          ]
        : []),
      ...Object.entries(options).map(([name, { help, value, oneOf }]) => {
        const takes = value === undefined ? "" : oneOf === undefined ? " -r" : ` -x -a '${oneOf.join(" ")}'`
        return `complete -c holdfast -n '${seen}' -l ${name}${takes} -d ${fishText(help)}`
      }),
    ]
  })
  return `${lines.join("\n")}\n`
}

const scripts: Readonly<Record<(typeof shells)[number], (completions: readonly Completion[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}
