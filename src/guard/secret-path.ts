import { globMatches } from "./glob.ts"

const secretNames =
  /^(?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-](?!pub$)[\w.-]+)?|\.env(?:rc)?|\.env\.(?!example$|sample$|template$|dist$|defaults?$|schema$)[\w.-]+|[\w.-]+\.env|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc|\.git-credentials|\.htpasswd|\.dockercfg|\.vault-token|\.boto|\.s3cfg|shadow-?|gshadow-?|sudoers|master\.key|wallet\.dat|login data|cookies\.sqlite|key[34]\.db|logins\.json|application_default_credentials\.json|terraform\.tfstate(?:\.backup)?|[\w.-]*\.(?:pem|p12|pfx|pkcs12|jks|keystore|kdbx?|ppk|key|keychain(?:-db)?|agekey|asc|gpg)|credentials|[\w.-]*(?:credentials?|secrets?|passwords?|passwd|tokens?|api[_-]?keys?|private[_-]?keys?|service[_-]?account[\w-]*)(?:\.(?:json|ya?ml|toml|ini|txt|csv|xml|conf|cfg|properties|env|db|enc|bak|old))+|host_\w+_key|ssh_host_[\w]+_key)$/

/** Directories in which all but the named files are secret. */
const secretPlaces: readonly RegExp[] = [
  /(?:^|\/)\.ssh\/(?!(?:known_hosts|config|authorized_keys)(?:\.old)?$|[^/]*\.pub$)[^/]+/,
  /(?:^|\/)\.(?:gnupg|password-store)\/[^/]+/,
  /(?:^|\/)\.aws\/(?:credentials|sso|cli\/cache)/,
  /(?:^|\/)\.azure\/\w*(?:token|profile|credential)/,
  /(?:^|\/)\.config\/(?:gcloud|gh|hub|doctl|op)\//,
  /(?:^|\/)\.kube\/config/,
  /(?:^|\/)\.docker\/config\.json$/,
  /^\/etc\/(?:g?shadow-?|sudoers(?:\.d\/.*)?|ssl\/private\/.*|kubernetes\/.*\.conf|krb5\.keytab)$/,
  /^\/(?:var\/)?run\/secrets\//,
  /^\/proc\/(?:self|thread-self|\d+|\*)\/(?:environ|mem)$/,
  /(?:^|\/)keychains?\//,
  /(?:^|\/)(?:sam|system|security)$(?<=\/config\/\w+)/,
]

/** Names that are about secrets and hold none. */
const harmless =
  /\.(?:pub|md|rst|html?|tsx?|jsx?|py|go|rs|java|rb|php|cs|c|h|cpp|css|scss|svg|png|test\.\w+)$|(?:^|\/)etc\/passwd$/

/** Secrets that a pattern may stand for. */
const likely: readonly string[] = [
  "id_rsa",
  "id_ed25519",
  "id_ecdsa",
  "id_dsa",
  ".env",
  ".env.production",
  ".netrc",
  ".pgpass",
  "credentials",
  "credentials.json",
  "secrets.yml",
  "server.pem",
  "server.key",
  "shadow",
]

const likelyPlaces: readonly string[] = [
  "~/.ssh/id_rsa",
  "~/.ssh/id_ed25519",
  "~/.aws/credentials",
  "~/.netrc",
  "~/.kube/config",
  "~/.gnupg/secring.gpg",
  "~/.docker/config.json",
  "/etc/shadow",
  "/etc/gshadow",
  "/etc/sudoers",
  "/proc/self/environ",
  "/run/secrets/token",
]

/** Does a normal path in small letters hold what only its owner should read: keys, credentials, tokens, password stores? */
export function isSecretPath(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1)
  if (/[*?[]/.test(path)) return isSecretGlob(path, name)
  if (secretPlaces.some((place) => place.test(path))) return true
  if (/(?:^|\/)\.(?:ssh|aws|gnupg|password-store)$/.test(path)) return true
  return (secretNames.test(name) || /(?:^|\/)(?:secrets|private[_-]?keys)\/[^/]+$/.test(path)) && !harmless.test(path)
}

function isSecretGlob(path: string, name: string): boolean {
  if (path.length > 1_000) return true
  if (secretPlaces.some((place) => place.test(path.replace(/[*?]+/g, "x")))) return true
  if (likelyPlaces.some((place) => path.startsWith(place[0] ?? "") && globMatches(path, place))) return true
  const telling = name.replace(/[^a-z\d]/g, "").length >= 2 || (name.startsWith(".") && name.length > 2)
  return telling && /[*?[]/.test(name) && likely.some((secret) => globMatches(name, secret))
}
