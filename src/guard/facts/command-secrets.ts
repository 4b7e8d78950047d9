import { searches } from "./command-reach.ts"
import { isReader } from "./command-table.ts"
import { isSecretUrl } from "./hosts.ts"
import type { PathFact } from "./paths.ts"
import { fold } from "./words.ts"

/** Commands that print what a store of secrets holds. */
const secretStores =
  /^(?:security (?:find-(?:generic|internet)-password|dump-keychain)|pass (?:show|\w+\/)|gpg .*--export-secret|aws (?:\S+ )*(?:get-secret-value|get-parameters? .*--with-decryption)|vault (?:read|kv get)|op (?:read|item get)|gcloud secrets versions access|az keyvault secret show|kubectl (?=.*(?:\s-o[ =]?(?!name\b)\S|--output[ =](?!name\b)|--template))(?:\S+ )*get (?:\S+,)?secrets?\b|keyring get|gh auth token|secret-tool lookup|doppler secrets|heroku config\b|(?:vercel|netlify|railway|eas|amplify|render|wrangler|supabase) (?:\S+ )?(?:env|variables|vars)(?:[: ](?:pull|get|list|ls|download|export))?(?: |$)|docker inspect .*env|git credential fill|git config (?:\S+ )*\S*(?:extraheader|token|password)(?: |$)|ssh-add -L|ansible-vault (?:view|decrypt|edit)|lpass show|keepassxc-cli (?:show|clip|export)|(?:age|rage|gpg2?|sops) (?:.* )?(?:-d|--decrypt)(?: |$)|chamber (?:read|export)|credstash get|infisical (?:secrets|export)|(?!(?:kubectl|oc) )(?:\S+ ){1,4}(?:(?:get|show|read|view|reveal|export|print|dump|fetch|decrypt)[- ](?:\S+[- ])?(?:passwords?|passphrases?|secrets?|credentials?|otp|totp|private-?keys?|tokens?))(?: |$)|jq (?:-\S+ )*(?:\$?env\b|\S*\$env\b)|aws configure get|gcloud auth print-\w+-token|az account get-access-token|aws sts (?:get-session-token|assume-role)|npm config (?:get|ls|list) .*auth|kubectl config view .*--raw|terraform output|printenv \S*(?:key|secret|token|passw|credential)|ps \S*e\S*w|netsh wlan .*key=clear|reg save hklm|cmdkey|(?:get-childitem|gci|dir|ls) env:)/
/** A sub-command that is named after a secret tells or makes one, whatever the program; scripts of a project have names of their own. */
const tellsSecret = (name: string, words: readonly string[]): boolean => {
  if (/^docker-credential-/.test(name)) return true
  if (/^(?:get|read|show|export|reveal|fetch|unprotect|find)-\w*(?:secret|credential|password|vaultkey)/.test(name))
    return true
  if (searches.test(name) || isReader(name)) return false
  const verbs = words.filter((word) => !word.startsWith("-")).slice(0, 2)
  if (/^(?:run|exec|test|build|add|install|x|dlx|start)$/.test(verbs[0] ?? "")) return false
  return verbs.some((word) =>
    /^(?:(?:\w+:)?(?:token|tokens|password|passwords|credentials?)|login:ci)$/.test(fold(word)),
  )
}
/** What stands for a store of secrets that is no file. */
export const secretStore: PathFact = { path: "secret-store", access: "read", secret: true, glob: false }

/** Does a command print what a store of secrets holds? Options may stand before the sub-command: `terraform -chdir=x output`. */
export function opensSecret(name: string, words: readonly string[], line: string): boolean {
  const direct = [
    line,
    line.replace(/^(\S+)(?: --?[\w-]+(?:=\S*)?)+(?= )/, "$1"),
    line.replace(/^(\S+)(?: --?[\w-]+(?:=\S*| (?!-)\S+))+(?= )/, "$1"),
  ]
  // Columns of a list that show names and dates alone.
  if (/^(?:kubectl|oc) .*-o[ =]?(?:custom-columns|jsonpath)/.test(line) && !/(?<!meta)data\b/.test(line)) return false
  return direct.some((one) => secretStores.test(one)) || tellsSecret(name, words) || words.some(isSecretUrl)
}

const secretVariable =
  /\$\{?(?!\w*(?:public|_file|_path|_name|_id\b))\w*(?:api_?key|secret|token|passw(?:or)?d|credential|private_?key)\w*\b/i

/** Is a variable for a secret printed, and not handed to another program or into a file? */
export const printsSecret = (text: string): boolean =>
  text
    .slice(0, 100_000)
    .split(/[;&\n]+/)
    .some(
      (piece) =>
        /(?:^|[\s("'])(?:echo|printf|print)\s/.test(piece) && !/[|>]/.test(piece) && secretVariable.test(piece),
    )
