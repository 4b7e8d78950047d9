import { askChild, startChild } from "./gateway-servers.ts"
const [kind="retry", bytes="2000", stream="0", count="3000", store="memory", workers="1", think="0"] = process.argv.slice(2)
const upstream = await startChild("gateway-upstream-child")
const gw = await startChild(process.env.BARE ? "gateway-bare-child" : "gateway-ours-child", [upstream.url, store === "memory" ? "memory" : `/tmp/mine/p${Date.now()}.db`], process.env.NOPROF ? [] : ["--cpu-prof","--cpu-prof-interval","100","--cpu-prof-dir=/tmp/mine/prof4"])
const load = await startChild("gateway-load-child")
const seen: any = await askChild(load, { url: gw.url, headers: {}, kind, key: "k", isNamed: true, bytes: +bytes, stream: stream==="1", calls: false, turnUnits: 1250, count: +count, thinkMs: +think, workers: +workers })
const t = seen.samples.map((s: any) => s.totalMs).sort((a: number,b: number)=>a-b)
console.log("p50", t[t.length>>1].toFixed(3), "p90", t[t.length*0.9|0].toFixed(2), "p99", t[t.length*0.99|0].toFixed(2), "n", t.length, "req/s", (t.length/seen.wallMs*1000).toFixed(0))
for (const s of [load, gw, upstream]) await s.stop()
