import { describe, expect, test } from "vitest"
import { type Turn, text, transcript, used } from "../../../test/support/transcripts.ts"
import { createMeter } from "../../tokens/meter.ts"
import { allCandidates, fitted } from "../digest-candidates.ts"
import type { NoteKind } from "../summary/summary.ts"
import { notesOf } from "./notes.ts"

const user = (said: string): Turn => ["user", text(said)]

const lines = (turns: readonly Turn[], ...kinds: readonly NoteKind[]): readonly string[] =>
  notesOf(transcript(user("Repair the login page"), ...turns)).flatMap(({ kind, text: line }) =>
    kinds.includes(kind) ? [line] : [],
  )

test("what a client prints behind an output is no outcome", () => {
  const mkdir = used("terminal", { command: "mkdir -p qb" }, "$ mkdir -p qb\n[exit_code=0 elapsed=0.04s]")
  expect(lines(mkdir, "act").join()).not.toMatch(/elapsed|exit_code/)
  const failed = used(
    "terminal",
    { command: "make build" },
    "$ make build\nld: cannot find -lz\n[exit_code=2 elapsed=1.2s]",
  )
  expect(lines(failed, "error").join()).toMatch(/cannot find|Exit code: 2/)
})

test("a request over the web that only fetches is none that changes something, whatever runs behind it", () => {
  const look = used(
    "bash",
    { command: "curl -sk -i https://10.0.0.9/; scanner dir -q -t 5 -u https://10.0.0.9" },
    "200 /a",
  )
  expect(lines(look, "act")).toEqual([])
  const asked = used("bash", { command: "curl -sG http://10.0.0.9/api --data-urlencode 'query=up' | jq ." }, "136")
  expect(lines(asked, "act")).toEqual([])
  const sent = used("bash", { command: "curl -s -d 'a=1' https://10.0.0.9/orders" }, "created order 7")
  expect(lines(sent, "act")).toHaveLength(1)
})

test("a commit that was amended, taken back or put on another base is told as rewritten", () => {
  const bash = (command: string, output: string) => used("bash", { command }, output)
  const first = bash("git commit -qm one && git log --oneline -1", "a3d70c2 one")
  const second = bash("git commit -qm two && git log --oneline -1", "b4e81d3 two")
  const acts = (...turns: readonly Turn[]): string => lines(turns, "act").join("\n")
  expect(acts(...first, ...second)).not.toContain("rewritten")
  const amended = acts(
    ...first,
    ...second,
    ...bash("git commit --amend -qm two && git log --oneline -1", "c5f92e4 two"),
  )
  expect(amended).toContain("b4e81d3 (rewritten since)")
  expect(amended).not.toContain("a3d70c2 (rewritten")
  const moved = acts(
    ...first,
    ...second,
    ...bash("git rebase origin/main", "Successfully rebased and updated refs/heads/x."),
  )
  expect(moved.match(/rewritten since/g)).toHaveLength(2)
})

describe("what a command did", () => {
  test("what was opened for review is told with its address, what was amended by its last name", () => {
    const address = "https://git.example.com/a/b/pull/412"
    const pushed = used("bash", { command: "git push && gh pr create --fill" }, ` * [new branch]  a -> a\n${address}`)
    expect(lines(pushed, "act").join()).toContain(address)
    const command = "git revert --no-edit 5c3e921 && git commit --amend -m 'Take it back' && git log --oneline -2"
    const log = "[a 19ab7d4] Revert\n 1 file changed\n7e20c66 Take it back\n5c3e921 Preload"
    expect(lines(used("bash", { command }, log), "act").join()).toContain("commit 7e20c66")
  })

  test("what is fetched and thrown away changes nothing", () => {
    expect(
      lines(used("bash", { command: "curl -s -o /dev/null -w '%{time_total}' localhost/a" }, "0.4"), "act"),
    ).toEqual([])
  })

  test("why it failed is read beside the exit code that a client keeps apart", () => {
    const output = JSON.stringify({ output: "scp: a: No space left on device\n", metadata: { exit_code: 1 } })
    expect(lines(used("shell", { command: ["scp", "a", "b:/c"] }, output), "error").join()).toContain("No space left")
  })

  const bash = (command: string, output: string): readonly Turn[] => used("Bash", { command }, output)

  test.each([
    ["flagctl set image_format webp --env eu1", "image_format: avif -> webp (rev 419)"],
    ["pgkill shop 23817", "terminated 23817; audit id DBA-20934"],
    ["time DATABASE_URL=x python manage.py migrate bookings 0091", "OK"],
  ])("a program that nobody knows did something where it says so: %s", (command, output) => {
    expect(lines(bash(command, output), "act")).toHaveLength(1)
  })

  test.each([
    ["flagctl list --env eu1", "image_format: avif -> webp"],
    ["jobtool status 7731", "terminated 02:44"],
    ["python manage.py sqlmigrate bookings 0092", "BEGIN; COMMIT;"],
  ])("who only asks a program changed nothing: %s", (command, output) => {
    expect(lines(bash(command, output), "act")).toEqual([])
  })

  test("what a client prints around an output is told nowhere", () => {
    const around = (code: number, printed: string): string =>
      `Chunk ID: 00933f\nWall time: 14.2000 seconds\nProcess exited with code ${code}\nOriginal token count: 22\nOutput:\n${printed}`
    const turns = [
      ...used("exec_command", { cmd: "git push -u origin fix" }, around(0, "first line\nsecond line\nthird line")),
      ...used("exec_command", { cmd: "make test" }, around(2, "Connection refused")),
    ]
    const told = notesOf(transcript(user("Go"), ...turns)).map(({ text: line }) => line)
    expect(told.join("\n")).not.toMatch(/Chunk ID|Wall time|token count/)
    expect(told).toContain("`make test` failed: Connection refused")
  })

  test("a command that goes on is told by how it ended, and not the calls that fetched its output", () => {
    const turns = [
      ...used(
        "exec_command",
        { cmd: "make migrate" },
        "Chunk ID: 1\nWall time: 30 seconds\nProcess running with session ID 4112\nOutput:\n",
      ),
      ...used(
        "write_stdin",
        { session_id: 4112, chars: "" },
        "Chunk ID: 2\nWall time: 9 seconds\nProcess exited with code 1\nOutput:\nerror: lock timeout",
      ),
      ...used("Bash", { command: "cargo build" }, "Command running in background with ID: b3f71c2"),
      ...used("BashOutput", { bash_id: "b3f71c2" }, "<status>running</status>\n\n<stdout>\n</stdout>"),
      ...used("BashOutput", { bash_id: "b3f71c2" }, "<status>completed</status>\n\n<exit_code>0</exit_code>"),
    ]
    const told = notesOf(transcript(user("Go"), ...turns)).map(({ text: line }) => line)
    expect(told.join("\n")).not.toMatch(/write_stdin|BashOutput|no result yet/)
    expect(told).toContain("`make migrate` failed: error: lock timeout")
  })

  test("a server that was started again is told once, as it runs now", () => {
    const start = (id: string) =>
      used("Bash", { command: "cargo run -q", run_in_background: true }, `Command running in background with ID: ${id}`)
    const turns = [
      ...start("b41f7e0"),
      ...used("Bash", { command: "kill $(lsof -ti tcp:8080)" }, ""),
      ...start("b9c03d2"),
    ]
    expect(lines(turns, "commitment")).toEqual(["`cargo run -q` runs in the background as b9c03d2: no result yet"])
  })

  test("one that never ended has no result yet", () => {
    const turns = used("Bash", { command: "make deploy" }, "Command running in background with ID: b1")
    expect(lines(turns, "commitment")).toEqual(["`make deploy` runs in the background as b1: no result yet"])
  })

  test("of one that still runs, what its output showed last is told, and nothing once it was stopped", () => {
    const start = used("Bash", { command: "make soak" }, "Command running in background with ID: b7k2")
    const look = used("Read", { file_path: "/tmp/tasks/b7k2.output" }, "warming up\n12 of 40 done")
    const stop = used("Bash", { command: "kill $(pgrep -f b7k2)" }, "")
    expect(lines([...start, ...look], "commitment")).toEqual([
      "`make soak` runs in the background as b7k2: 12 of 40 done (when last looked at)",
    ])
    expect(lines([...start, ...look, ...stop], "commitment")).toEqual([])
  })

  test("what is changed behind a text that is typed in is told, and what came of it", () => {
    const command = "cat > /tmp/body.md <<'EOF'\n- first point\nEOF\ngh pr create --draft --body-file /tmp/body.md"
    const [line = ""] = lines(bash(command, "Creating draft\n\nhttps://git.example/acme/app/pull/588"), "act")
    expect(line).toMatch(/gh pr create --draft.*pull\/588$/)
  })

  test("of an output that a client prints in fields, what the command printed is told", () => {
    const output = (printed: string, code: number): string =>
      `Command: ssh n1 'nohup ./again.sh > log & echo $!'\nDirectory: (root)\nOutput: ${printed}\nError: (none)\nExit Code: ${code}\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 41592`
    const command = "ssh n1 'nohup ./again.sh > log & echo $!'"
    expect(lines(bash(command, output("28114", 0)), "act")).toEqual([`\`${command}\`: 28114`])
    expect(lines(bash("make site", output("no rule to make target", 2)), "error").join()).toContain("no rule to make")
    expect(notesOf(transcript(user("Go"), ...bash(command, output("28114", 0)))).join()).not.toContain("41592")
  })

  test("a cell of a notebook that only calls a shell is what the shell was told", () => {
    const cell = used("notebook_execute", { code: '!sbatch --wrap "python fit.py"' }, "Submitted batch job 7730412")
    expect(lines(cell, "act")).toEqual(['`sbatch --wrap "python fit.py"`: Submitted batch job 7730412'])
  })

  test.each([
    ["UPDATE 37", 'psql app -c "update seats set state = 2"'],
    ["ALTER TABLE", 'psql app -c "alter table seats add note text"'],
  ])("a database says in its own words that it was done: %s", (output, command) => {
    expect(lines(bash(command, output), "act").join()).toContain(`: ${output}`)
  })

  test("a migration that a script of the package runs is an act; asking how far it got is none", () => {
    expect(lines(bash("DB=ci pnpm db:migrate", "2 applied"), "act")).toHaveLength(1)
    expect(lines(bash("pnpm db:migrate:status", "at 0042"), "act")).toEqual([])
  })

  test("a commit that was pulled onto another base has another name, one that was reverted keeps its own", () => {
    const commit = bash("git commit -qm one", "[fix 7d07eb4] one")
    const pull = bash("git pull --rebase origin fix && git push", "898565d..bf139a0  fix -> fix")
    expect(lines([...commit, ...pull], "act").join()).toContain("7d07eb4 (rewritten since)")
    const revert = bash("git revert --no-edit 7d07eb4 && git commit --amend -qm back", "[fix 8e8286d] back")
    expect(lines([...commit, ...revert], "act").join()).not.toContain("rewritten")
  })

  test("where it exited with nothing but a code, a line of its output says why", () => {
    const [line = ""] = lines(bash("gh pr checks 12", "Exit code 1\nedge-compat\tfail\t2m\nrust\tpending"), "error")
    expect(line).toBe("`gh pr checks 12` failed: Exit code 1: edge-compat fail 2m")
  })
})

test("a command that looks once its folder is made is told whole", () => {
  const command = `mkdir -p /srv/audit/ev && cd /srv/audit && date -u && ls -la # ${"x".repeat(200)}`
  expect(lines(used("Bash", { command }, "total 20\n."), "act").join("\n")).toContain("mkdir -p /srv/audit/ev")
})

describe("commands of several steps", () => {
  const run = (command: string, output: string) => used("bash", { command }, output)

  test("a warning beside what was made is no failure", () => {
    const opened = run(
      "git push -u origin slots && glab mr create -s slots -b main --reviewer odile -y",
      'Creating merge request for slots into main\n!77 Slots (slots)\n https://git.example/web/-/merge_requests/77\n WARNING: could not set reviewer: user "odile" not found',
    )
    expect(lines(opened, "error")).toEqual([])
    expect(lines(opened, "act").join()).toContain("merge_requests/77")
  })

  test("of several suites the count of the one that failed is the reason", () => {
    const tests = run(
      "mix test | grep tests,",
      "Exit code 2\n==> core\n88 tests, 0 failures\n==> shop\n71 tests, 1 failure\n==> portal\n144 tests, 0 failures",
    )
    expect(lines(tests, "error").join()).toContain("71 tests, 1 failure")
  })

  test("a search at the end that finds nothing is no failure of what was done before it", () => {
    const pushed = run(
      "git commit -q --amend --no-edit && git push --force-with-lease; git ls-tree -r HEAD --name-only | grep secret",
      "Exit code 1\n + 41d9c02...a6f7733 slots -> slots (forced update)",
    )
    expect(lines(pushed, "error")).toEqual([])
    expect(lines(pushed, "act").join()).toContain("a6f7733")
    expect(lines(run("npm run build && grep -c slot dist/a.js", "Exit code 1\nerror: no such module"), "act")).toEqual(
      [],
    )
  })

  test("every commit of a command is told, and why a server refused a push", () => {
    const both = run(
      "git commit -m 'One' && git add b && git commit -m 'Two'",
      "[slots 1a2b3c4] One\n 1 file changed\n[slots 5d6e7f8] Two\n 2 files changed",
    )
    expect(lines(both, "act").join()).toContain("commit 1a2b3c4, 5d6e7f8")
    const refused = run(
      "git push -u origin slots",
      "Exit code 1\nremote: pre-receive hook declined\nremote: branch slots has commits of two tickets, one is allowed\n ! [remote rejected] slots -> slots\nerror: failed to push some refs to 'git.example:web.git'",
    )
    expect(lines(refused, "error").join()).toContain("commits of two tickets")
  })

  test("what a program wrote is said of its file, and a tool's own word for the end is no order", () => {
    const edited = run(
      "python3 - <<'P'\np='lib/slots.ex'\nt=open(p).read()\nopen(p,'w').write(t.replace('a','b'))\nP\ngit diff --stat",
      " lib/slots.ex | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)",
    )
    expect(lines(edited, "act")).toEqual([])
    expect(lines(edited, "file")).toEqual(["`lib/slots.ex`: edited"])
    const applied = run("terraform apply tfplan", "x: Creating...\n\nApply complete! Resources: 5 added, 0 changed.")
    expect(lines(applied, "act").join()).toContain("Apply complete! Resources: 5 added")
  })
})

test("what is run in a container changes something if it would outside of one", () => {
  const acts = (command: string) => lines(used("bash", { command }, "ok"), "act")
  expect(acts("docker compose exec -T wp tail -n 25 /var/log/debug.log")).toEqual([])
  expect(acts("kubectl exec -it web-1 -- ls /data")).toEqual([])
  expect(acts("docker compose exec -T -u www-data wp wp option update list_id 5")).toHaveLength(1)
  expect(acts("kubectl -n shop exec deploy/web -- rm -rf /tmp/cache")).toHaveLength(1)
})

describe("what the agent says beside a command", () => {
  const flash = { command: "openocd -f board.cfg -c 'program app.elf verify reset exit'" }
  const output = "Open On-Chip Debugger 0.12.0\n** Programming Started **\n** Verified OK **\nshutdown command invoked"

  test("says of a program that nobody knows that it changes something, and what for", () => {
    const described = used("Bash", { ...flash, description: "Build, then flash rig A" }, output)
    expect(lines(described, "act")).toEqual([`\`${flash.command}\` — Build, then flash rig A`])
    const looked = used("Bash", { ...flash, description: "Check what is on rig A" }, output)
    expect(lines(looked, "act")).toEqual([])
  })

  test("stays beside a call that is cut", () => {
    const long = { command: `openocd -f board.cfg ${"-c 'gdb_port 3343' ".repeat(8)}-c 'program app.elf'` }
    const [line = ""] = lines(used("Bash", { ...long, description: "Flash rig A" }, output), "act")
    const summary = { schema: "handoff", sections: [{ name: "acts", lines: [{ ...bare, text: line }] }] } as const
    const meter = createMeter({ model: "gpt-4o" })
    const [candidate] = allCandidates(summary, { meter })
    expect(candidate && fitted(candidate, 30, meter).line.text).toMatch(/^`openocd .*…` — Flash rig A$/)
  })
})
const bare = { sources: ["m1"], channel: "assistant", worth: 10 } as const

describe("a command that the user did not let run", () => {
  test("is told as rejected, with the user's words, whatever went well later", () => {
    const rejected = used("shell", { command: "php artisan migrate:fresh" }, "exec command rejected by user")
    const later = used("shell", { command: "php artisan migrate" }, "Migrated: 2 tables")
    expect(lines([...rejected, ...later], "error")).toEqual([
      "`php artisan migrate:fresh` failed: rejected by the user",
    ])
    expect(lines([...rejected, ...later], "act").join()).not.toContain("fresh")
  })

  test("and of a file, what was to be changed in it", () => {
    const edit = (text: string, result: string) =>
      used("Edit", { file_path: "/srv/a.cpp", old_string: "wait = 20;", new_string: text }, result)
    const rejected = edit(
      "wait = 50;",
      "The user doesn't want to proceed with this tool use. The user said: 20 ms stays.",
    )
    expect(lines([...rejected, ...edit("wait = 21;", "The file has been updated.")], "error")).toEqual([
      "changing `/srv/a.cpp` (+1 −1: wait = 50;) failed: rejected by the user (as reported: “20 ms stays.”)",
    ])
  })
})

describe("commands in the background", () => {
  const start = used("Bash", { command: "make soak" }, "Command running in background with ID: bash_3")

  test("are told as stopped, and the call that stopped them not by itself", () => {
    const kill = used("KillShell", { shell_id: "bash_3" }, '{"message":"Successfully killed shell: bash_3"}')
    expect(lines([...start, ...kill], "act", "commitment")).toEqual([])
    expect(lines([...start, ...kill], "command")).toEqual(["`make soak`: stopped"])
    const interrupt = used("write_stdin", { session_id: "bash_3", chars: "\u0003" }, "^C")
    expect(lines([...start, ...interrupt], "act", "commitment")).toEqual([])
  })

  test("a list that names one is not its output", () => {
    const list = { todos: [{ content: "Wait for bash_3", status: "in_progress" }] }
    expect(lines([...start, ...used("TodoWrite", list, "Todos have been modified.")], "commitment")).toEqual([
      "`make soak` runs in the background as bash_3: no result yet",
    ])
  })
})

test("two commits of one command that only a log names are both told", () => {
  const both = used(
    "bash",
    { command: "git commit -q -m 'a: one' && git add b && git commit -q -m 'b: two' && git log --oneline -3" },
    "e81f6b2 b: two\n5d0ae3c a: one\n77ac01e older",
  )
  expect(lines(both, "act").join()).toContain("commit 5d0ae3c, e81f6b2")
})

describe("jobs of a queue", () => {
  const submit = used("run", { command: "sbatch run1.sbatch" }, "Submitted batch job 4418203")

  test("are told with the state in which they were seen last, part by part", () => {
    const table = "4418203_0 b2 COMPLETED 0:0\n4418203_1 b2 COMPLETED 0:0\n4418203_2 b2 OUT_OF_MEMORY 0:125"
    const seen = used("run", { command: "sacct -j 4418203" }, table)
    expect(lines([...submit, ...seen], "act")).toEqual([
      "`sbatch run1.sbatch`: Submitted batch job 4418203 (2 COMPLETED, 1 OUT_OF_MEMORY)",
    ])
  })

  test("also where the table says but the state of the one that was asked for", () => {
    const seen = used("run", { command: "sacct -j 4418203 -X -n -o State,Elapsed" }, "  RUNNING   00:52:18")
    expect(lines([...submit, ...seen], "act")).toEqual(["`sbatch run1.sbatch`: Submitted batch job 4418203 (RUNNING)"])
  })
})

test("what is handed in again in the same words keeps the numbers of the runs before", () => {
  const submit = (job: number): readonly Turn[] =>
    used("bash", { command: "sbatch relax.sh" }, `Submitted batch job ${job}`)
  const queue = "  JOBID STATE\n4418203 FAILED\n4418211 RUNNING"
  const turns = [
    ...submit(4418203),
    ...submit(4418207),
    ...submit(4418211),
    ...used("bash", { command: "squeue" }, queue),
  ]
  expect(lines(turns, "act").join()).toMatch(
    /`sbatch relax\.sh` ×3: Submitted batch job 4418211 \(RUNNING\); before that: 4418203 \(FAILED\), 4418207/,
  )
  const push = used("bash", { command: "git push" }, "   1a2b3c4..5d6e7f8  main -> main")
  expect(lines([...push, ...push], "act").join()).not.toContain("before that")
})

test("the output of a shell between tags is read without them, and how it ended behind it", () => {
  const shell = (command: string, output: string): readonly string[] =>
    lines(
      used("run_shell_command", { command }, `<untrusted_context>\n${output}\n</untrusted_context>`),
      "act",
      "error",
      "command",
    )
  expect(shell("npm install", "Output: added 12 packages in 3s\nProcess Group PGID: 7")).toEqual([
    "`npm install`: added 12 packages in 3s",
  ])
  const failed = "Output: (empty)\nError: fatal: no remote\nExit Code: 128\nProcess Group PGID: 8"
  expect(shell("git push", failed)).toEqual(["`git push` failed: fatal: no remote"])
})

describe("a release on a cluster", () => {
  const helm = "helm --kube-context stage -n shop"
  test("that was refused says why, though the reason begins with a verb", () => {
    const refused = "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress\nExit code: 1"
    expect(lines(used("bash", { command: `${helm} upgrade shop charts/shop` }, refused), "error").join()).toContain(
      "failed: Error: UPGRADE FAILED: another operation",
    )
  })

  test("that went well did so, whatever its history says of an earlier one", () => {
    const history = [
      "Exit code: 0\nWall time: 211.4 seconds\nOutput:",
      'Release "shop" has been upgraded. Happy Helming!',
      "20 Fri failed shop-3.5.0 pre-upgrade hooks failed: 1 error occurred: timed out",
      "21 Fri deployed shop-3.5.0 Upgrade complete",
      "b83a1fe shop: 3.5.0",
    ].join("\n")
    const command = `${helm} upgrade shop charts/shop && ${helm} history shop && git commit -qm 'shop: 3.5.0' && git log --oneline -1`
    const told = lines(used("bash", { command }, history), "act", "error")
    expect(told).toEqual([expect.stringMatching(/^`helm .*upgrade shop.*`: commit b83a1fe$/)])
  })

  test("is told by its steps that change something, the cluster once", () => {
    const on = "kubectl --context eu1-prod --namespace training-and-evaluation"
    const command = `${on} delete job refresh-1 && sleep 4; ${on} get jobs -o wide --sort-by=.metadata.creationTimestamp; ${on} create job refresh-2 --from=cronjob/refresh`
    const [told = ""] = lines(used("bash", { command }, 'job.batch "refresh-1" deleted'), "act")
    expect(told).toContain("delete job refresh-1; kubectl … create job refresh-2")
    expect(told).not.toContain("get jobs")
  })
})

test("a code that somebody read out is no program", () => {
  const checked = used("verify_authorisation_code", { request_id: "AC-1", code: "480913" }, '{"error":"CODE_MISMATCH"}')
  expect(lines(checked, "error").join()).toContain("verify_authorisation_code(request_id=AC-1, code=480913)")
})

test("what is shown in the end is not told as what came of the change before it", () => {
  const shown = used(
    "bash",
    { command: "make figures && rm old.pdf && tail -2 logs/run.log" },
    "10:52 HB10 done\n10:57 HB11 done",
  )
  expect(lines(shown, "act")).toEqual(["`make figures && rm old.pdf && tail -2 logs/run.log`"])
})

test("a package that could not be installed is not put right by another one", () => {
  const install = (name: string, output: string) =>
    used("bash", { command: `Rscript -e 'renv::install("${name}", prompt = FALSE)'` }, output)
  const failed = install("mvabund", "Error: Error installing package 'RcppGSL'\nExit code: 1")
  const [told = ""] = lines([...failed, ...install("iNEXT", "Successfully installed 1 package.")], "error")
  expect(told).toContain("mvabund")
  expect(told).not.toContain("went well")
})

test("what a command shows of a failure elsewhere is not its own", () => {
  const log =
    "Exit code: 0\nWall time: 2 seconds\nOutput:\nTests: 3 failed, 85 passed\nError: Process completed with exit code 1."
  const shown = used("bash", { command: "gh run view 194 --log-failed | sed 's/^.*Z //'" }, log)
  expect(lines(shown, "error")).toEqual([])
  const ran = used("bash", { command: "npm test | tail -5" }, log)
  expect(lines(ran, "error")).toHaveLength(1)
})

test("a call whose result never came is neither done nor failed", () => {
  const none = "[no result was recorded for this call]"
  expect(lines(used("bash", { command: "gh auth status" }, none, true), "error", "act", "command")).toEqual([])
  expect(lines(used("bash", { command: "git push" }, none, true), "error", "act")).toEqual([
    "`git push`: result unknown",
  ])
})

test("statements that are typed into the client of a database are an act, told by the one that changes something", () => {
  const typed = (statements: string, output: string) =>
    lines(used("bash", { command: `psql shop <<'SQL'\nbegin;\n${statements}\nSQL` }, output), "act", "error")
  expect(typed("create table ops.dup (like raw.rows);\ncommit;", "BEGIN\nCREATE TABLE\nCOMMIT")).toEqual([
    "`psql shop <<'SQL' (create table ops.dup (like raw.rows);)`: CREATE TABLE",
  ])
  expect(typed("select count(*) from raw.rows;", "BEGIN\n count\n-------\n 4")).toEqual([])
  expect(typed("delete from raw.rows;\nrollback;", "BEGIN\nDELETE 4\nROLLBACK")).toEqual([])
})

test("an exit code that a command prints itself is heeded", () => {
  const command = 'psql shop -f add.sql\necho "rc=$?"'
  const failed = used("bash", { command }, 'CREATE TABLE\nERROR:  role "reader" does not exist\nrc=3')
  expect(lines(failed, "error").join()).toContain('role "reader" does not exist')
  expect(lines(used("bash", { command }, "CREATE TABLE\nrc=0"), "error")).toEqual([])
})

test("a patch that could not be applied changed nothing, and one that puts back what another took out leaves no change", () => {
  const patch = (out: string, fresh: string) =>
    `*** Begin Patch\n*** Update File: src/a.sql\n@@\n-${out}\n+${fresh}\n*** End Patch`
  const well = "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nM src/a.sql\n"
  const missed = "apply_patch verification failed: Failed to find expected lines in src/a.sql:\nselect 1"
  expect(lines(used("apply_patch", patch("select 1", "select 2"), missed), "file")).toEqual([])
  const [there, back] = [patch("select one", "select two"), patch("select two", "select one")]
  const changed = used("apply_patch", there, well)
  expect(lines(changed, "file").join()).toContain("edited")
  expect(lines([...changed, ...used("apply_patch", back, well)], "file")).toEqual(["`src/a.sql`: changes undone"])
})

test("that one branch was pushed says nothing of another one that was refused", () => {
  const bash = (command: string, output: string) => used("bash", { command }, output)
  const refused =
    "To git.example:shop.git\n ! [remote rejected] chore/up -> chore/up (refusing to update workflow `ci.yml`)\nerror: failed to push some refs to 'git.example:shop.git'\nexit code: 1"
  const turns = [...bash("git switch -c chore/up", "Switched"), ...bash("git push -u origin chore/up", refused)]
  const elsewhere = [...turns, ...bash("git switch fix/b", "Switched"), ...bash("git commit -qam x && git push", "ok")]
  expect(lines(elsewhere, "error")).toEqual([
    "`git push -u origin chore/up` failed: ! [remote rejected] chore/up -> chore/up (refusing to update workflow `ci.yml`)",
  ])
  expect(lines([...turns, ...bash("git push", "done")], "error").join()).toContain("went well as `git push`")
})

test("a process with an id of one digit is polled, not acted on", () => {
  const turns = [
    ...used(
      "exec_command",
      { cmd: "pnpm -w test" },
      "Process running with session ID 7\nOutput:\nRunning test in 6 packages",
    ),
    ...used(
      "write_stdin",
      { session_id: 7, chars: "" },
      "Process exited with code 0\nOutput:\nTests: 261 passed, 261 total",
    ),
  ]
  expect(lines(turns, "act")).toEqual([])
  expect(lines(turns, "command").join()).toContain("`pnpm -w test`: Tests: 261 passed")
})

test("of a call in few tokens its sum stays, and the number that it made before a state that goes without saying", () => {
  const told =
    "`payments.charge(order_id=ord_77310, amount=612.00, currency=EUR, payment_method=pm_mc_9023)`: payment_id=pay_3c02, status=captured"
  const summary = { schema: "handoff", sections: [{ name: "acts", lines: [{ ...bare, text: told }] }] } as const
  const meter = createMeter({ model: "gpt-4o" })
  const [candidate] = allCandidates(summary, { meter })
  const short = candidate && fitted(candidate, 44, meter).line.text
  expect(short).toContain("order_id=ord_77310, amount=612.00")
  expect(short).toContain("payment_id=pay_3c02")
})
