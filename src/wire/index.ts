export { adjacencyOf } from "./codecs.ts"
export { decodeNext, decodeRequest, decodeResponse } from "./decode.ts"
export type { Changes } from "./encode.ts"
export { encodeRequest } from "./encode.ts"
export type { FilledBody, RequestBody } from "./request-body.ts"
export type { ArrayState, SseEvent, SseState } from "./sse.ts"
export {
  arrayEnd,
  arrayStep,
  createSseEvent,
  readSse,
  replaceData,
  sseEnd,
  sseStep,
  startArray,
  startSse,
  writeArrayEvent,
} from "./sse.ts"
export type { DecodeState, EncodeState, PartStart, ResponseStart, StreamEvent, WireEvent } from "./stream.ts"
export { withoutWire } from "./stream.ts"
export type { CollectState } from "./stream-steps.ts"
export {
  collect,
  collectEnd,
  collectStep,
  decodeEnd,
  decodeStep,
  decodeStream,
  encodeEnd,
  encodeStep,
  encodeStream,
  startCollect,
  startDecode,
  startEncode,
} from "./stream-steps.ts"
export type { LossEvent, Translation } from "./translate.ts"
export { translate } from "./translate.ts"
