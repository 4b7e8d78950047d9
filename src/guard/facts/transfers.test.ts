import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { createGuard } from "../guard.ts"
import { factsOf } from "./facts.ts"

const sends = (command: string): boolean => factsOf({ tool: "bash", input: { command } }).actions.has("send")
const leavesOpen = (command: string): boolean => factsOf({ tool: "bash", input: { command } }).open.has("personal")

const outgoing: readonly string[] = [
  "aws s3 cp x s3://bucket/x",
  "aws s3 cp - s3://bucket/x",
  "aws --profile p s3 sync . s3://bucket --delete",
  "aws s3 cp x s3://bucket/x --acl public-read",
  "aws s3 cp --recursive . s3://bucket --grants read=id=a full=id=b",
  "aws s3 cp s3://bucket/x s3://other/x",
  "aws s3api put-object --bucket b --key k --body x",
  "gsutil -m cp -r a b gs://bucket",
  "gsutil rsync -d . gs://bucket",
  "gcloud storage cp x gs://bucket/",
  "gcloud compute scp x vm:/tmp --zone z",
  "s3cmd put x s3://bucket",
  "s3cmd sync ./ s3://bucket/",
  "rclone copy docs remote:docs",
  "rclone copy remote:docs other:docs",
  "cat x | rclone rcat remote:x",
  "rclone serve http docs",
  "az storage blob upload -f x -c c -n x",
  "az storage copy -s x -d https://a.blob.core.windows.net/c",
  "az storage copy -s x --destination-account-name a --destination-container c",
  "azcopy copy x 'https://a.blob.core.windows.net/c?sig'",
  "b2 sync docs b2://bucket",
  "mc cp docs play/bucket",
  "scp x box:/tmp",
  "scp -P 22 x me@box.example:",
  "scp -- -x box:",
  "scp -3 one:x two:",
  "rsync -a --exclude .git ./ box:/srv",
  "rsync -a ./ rsync://box/module",
  "rsync -a ./ box::module",
  "rsync --daemon --config x",
  "echo x | nc box.example 99",
  "sftp -b commands box.example",
]

const incoming: readonly string[] = [
  "aws s3 cp s3://bucket/x .",
  "aws s3 cp s3://bucket/x -",
  "aws --profile p s3 cp --region eu-west-1 s3://bucket/x . --quiet",
  "aws s3 sync s3://bucket/site ./site --exclude '*.map'",
  "aws s3 mv s3://bucket/x ./x",
  "aws s3api get-object --bucket b --key k x",
  "gsutil cp gs://bucket/a gs://bucket/b .",
  "gsutil -m rsync -r gs://bucket ./copy",
  "gcloud storage cp gs://bucket/x ./",
  "gcloud compute scp vm:/tmp/x . --zone z",
  "s3cmd get s3://bucket/x",
  "s3cmd sync s3://bucket/ ./",
  "rclone copy remote:docs ./docs",
  "rclone cat remote:x",
  "az storage blob download -c c -n x -f x",
  "az storage copy -s https://a.blob.core.windows.net/c -d ./x",
  "b2 sync b2://bucket ./docs",
  "mc cp play/bucket/x ./x",
  "scp box:/tmp/x .",
  "scp -P 22 me@box.example:x me@box.example:y ./copies",
  "rsync -a box:/srv/ ./copy",
  "rsync box:/srv/",
  "rsync -a --delete src/ backup/",
]

const undecided: readonly string[] = [
  'aws s3 cp s3://bucket/x "$OUT"',
  'aws s3 cp "$FROM" "$TO"',
  "gsutil cp $ARGS",
  'gcloud storage cp x "$TO"',
  'rclone copy remote:docs "$TO"',
  'az storage copy -s x -d "$TO"',
  'scp box:x "$TO"',
  'rsync -a "$FROM" "$TO"',
  "scp box:x copies-$(cat name)",
]

describe("what a copying command does is told by its target", () => {
  test.each(outgoing)("%s sends", (command) => {
    expect(sends(command)).toBe(true)
  })
  test.each(incoming)("%s sends nothing", (command) => {
    expect(sends(command)).toBe(false)
    expect(leavesOpen(command)).toBe(false)
  })
  test.each(undecided)("%s may send, which is known only when it runs", (command) => {
    expect(sends(command)).toBe(true)
    expect(leavesOpen(command)).toBe(true)
    for (const template of ["no-personal-data", "no-secrets"] as const)
      expect(createGuard([{ template }]).judge({ tool: "bash", input: { command } }).decision).not.toBe("allow")
  })
  test.each(["aws s3 cp list.csv s3://bucket/", "scp list.csv box:", "rsync -a lists/ box:/srv"])(
    "%s may send what the file has",
    (command) => {
      expect(leavesOpen(command)).toBe(true)
      expect(createGuard([{ template: "no-personal-data" }]).judge({ tool: "bash", input: { command } }).decision).toBe(
        "ask",
      )
    },
  )
  test("for any target that is remote, no options before, between or behind make it local", () => {
    const option = fc.constantFrom("-r", "--recursive", "--quiet", "--acl private", "--exclude '*.o'", "--new-option v")
    const options = fc.array(option, { maxLength: 3 }).map((list) => list.join(" "))
    const copy = fc.constantFrom(
      ["aws s3 cp", "s3://b/x"],
      ["gsutil cp", "gs://b/x"],
      ["gcloud storage cp", "gs://b/x"],
      ["rclone copy", "remote:x"],
      ["scp", "box:x"],
      ["rsync", "box:x"],
    )
    fc.assert(
      fc.property(copy, options, options, options, ([program, to], before, between, behind) => {
        expect(sends(`${program} ${before} secret.txt ${between} ${to} ${behind}`)).toBe(true)
      }),
    )
  })
})
