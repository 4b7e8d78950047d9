import { expect, test } from "vitest"
import { deedOf } from "./call-deed.ts"
import { changesByVerb, changesForCertain, looksOnly } from "./changing-commands.ts"

test.each([
  "git -C lib commit -m x",
  "cd app && npm install",
  "kubectl -n shop rollout undo deploy/api --to-revision=4",
  "kubectl --context prod cordon node-3",
  "sudo systemctl restart nginx",
  "docker compose up -d",
  "gh pr create --fill",
  "aws --profile x ec2 terminate-instances --instance-ids i-1",
  "gcloud run services update api",
  'psql shop -c "UPDATE orders SET state = 1"',
  "python manage.py migrate billing",
  "./scripts/deploy.sh prod",
  "nohup make bench > out.log &",
  "git branch -D old",
  "ansible-playbook site.yml --limit web",
  "helm --kube-context stage -n shop upgrade shop charts/shop --version 3.5.0",
  "flux --context prod suspend kustomization shop",
  "git tag v1.2",
  "ansible web-03 -b -m systemd -a _",
  "bq rm -f -t dev:old.sales",
  "esptool.py --chip esp32c3 --port /dev/ttyUSB0 --baud 460800 write_flash 0x10000 app.bin",
  'openocd -f board.cfg -c "program app.elf verify reset exit"',
])("changes something: %s", (command) => {
  expect(changesForCertain(command)).toBe(true)
})

test.each([
  "git log --grep commit",
  "git stash list",
  "git branch -a",
  "git tag --contains 9c41f0e",
  "helm --kube-context stage -n shop history shop --max 3",
  "flux get kustomizations",
  "kubectl -n shop rollout status deploy/api",
  "kubectl get pods -l app=create",
  "docker ps",
  "gh pr view 12",
  "aws s3 ls",
  "python manage.py migrate:status",
  "grep -rn 'rm ' src",
  "file release",
  "ansible-playbook site.yml --limit web --check --diff",
  "ansible all -m ping",
  "bq query --dry_run < a.sql",
  "esptool.py --port /dev/ttyUSB0 chip_id",
])("changes nothing that is certain: %s", (command) => {
  expect(changesForCertain(command)).toBe(false)
})

test("a program that nobody knows does what the verb behind its name says", () => {
  expect(changesByVerb("rangectl submit --slot web FLAG")).toBe(true)
  expect(changesByVerb("flagctl --env prod enable new-cart")).toBe(true)
  expect(changesByVerb("file release")).toBe(false)
  expect(changesByVerb("echo create")).toBe(false)
  expect(looksOnly("flagctl list; flagctl status new-cart")).toBe(true)
})

test("a tool that is named after a program takes what stands behind its name, and is told with the place it works on", () => {
  const deed = deedOf({
    tool: "kubectl",
    input: { context: "prod-us2", command: "-n shop scale deploy/api --replicas=3" },
  })
  expect(deed).toMatchObject({ command: "prod-us2: kubectl -n shop scale deploy/api --replicas=3", changes: "yes" })
  const other = deedOf({ tool: "kubectl", input: { context: "prod-eu1", command: "-n shop get pods" } })
  expect(other).toMatchObject({ command: "prod-eu1: kubectl -n shop get pods", changes: "no" })
})

test("a cell of a notebook is a program", () => {
  const deed = deedOf({ tool: "notebook_run", input: { kernel: "py311", cell: "print(fit(plate, top=50))" } })
  expect(deed).toMatchObject({ type: "command", command: "print(fit(plate, top=50))" })
})

test("what is run on a host stands in quotes, and a runner's own word for it is no change", () => {
  const nature = (command: string) => deedOf({ tool: "bash", input: { command } })
  expect(nature("ansible web-05 -b -m shell -a 'cp -p a b && systemctl reload nginx'")).toMatchObject({
    changes: "yes",
  })
  expect(nature("ansible web-05 -b -m shell -a 'ls -l /etc/ssl'")).not.toMatchObject({ changes: "yes" })
})

test.each([
  ["Déclencher le backfill d'octobre", "yes"],
  ["Deployen und Worker neustarten", "yes"],
  ["ワーカーを再起動する", "yes"],
  ["Journal du 12 octobre", "maybe"],
])("what the agent says that a command is for, in its language: %s", (description, changes) => {
  expect(deedOf({ tool: "Bash", input: { command: "fleetrun job 7", description } })).toMatchObject({ changes })
})
