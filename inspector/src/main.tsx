import { signal } from "@preact/signals"
import { render } from "preact"
import type { ToldProblem } from "../../src/gateway/admin/answers.ts"
import { signedIn } from "./api.ts"
import { browserKey, enterWith, openKey } from "./key.ts"
import { CommandLine, HoldfastMark, Icon } from "./parts.tsx"
import { Shell } from "./shell.tsx"
import { goTo, problemOf, start } from "./state.ts"
import "./base.css"
import "./style.css"

const problem = signal<ToldProblem | undefined>(undefined)

/** The page for users who are not signed in: the one command that they need. */
function SignIn() {
  return (
    <main class="sign-in" id="main">
      <p class="brand">
        <HoldfastMark />
        <span>Holdfast</span>
      </p>
      <h1 class="display said">One line signs you in.</h1>
      <p class="lead">Type it on the machine that the gateway at {location.host} runs on:</p>
      <CommandLine line="holdfast open" />
      {problem.value !== undefined && (
        <p class="bad" role="alert">
          <Icon name="warn" /> {problem.value.sentence} {problem.value.next}
        </p>
      )}
      <p class="dim">
        It opens this page with a code that works once. The browser makes a key of its own, which never leaves it, and
        stays signed in for eight hours. In a checkout the line is <code>npm start -- open</code>;{" "}
        <code>holdfast open --print</code> prints the link for another browser.
      </p>
      {browserKey.value === undefined && <p class="attn">This browser has no Ed25519 in WebCrypto: use a newer one.</p>}
    </main>
  )
}

const App = () => (signedIn.value === "out" ? <SignIn /> : <Shell />)

/** Reads the sign-in code from the URL fragment, which browsers never send, and removes it from the address at once. */
async function begin(): Promise<void> {
  const [, code, page = ""] = /^#code=([\w-]{10,100})((?:\/[^/]*)*)$/.exec(location.hash) ?? []
  if (code !== undefined) {
    history.replaceState(null, "", location.pathname)
    goTo(...page.split("/").slice(1).map(decodeURIComponent))
  }
  const keyed = openKey()
  if (code !== undefined) {
    await keyed
    await enterWith(code).catch((error: unknown) => {
      problem.value = problemOf(error)
    })
  }
  await start()
}

const root = document.getElementById("app")
if (root !== null) render(<App />, root)
void begin()
