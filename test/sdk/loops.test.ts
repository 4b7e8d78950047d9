import { describeLoops } from "./describe-loops.ts"

describeLoops("every SDK's own tool loop finishes against the scripted model")
describeLoops("so it does when the stream is cut inside events and characters", { chunkBytes: 37 })
describeLoops("so it does through a relay that changes nothing", { relay: {} })
