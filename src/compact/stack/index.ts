export { applyBreakpoints } from "./breakpoints.ts"
export type { Marker, Position, RequestPieces } from "./breakpoints.ts"
export { markersIn } from "./breakpoints.ts"
export type { SectionDefinition, Source, StackDefinition } from "./stack.ts"
export type { StackChange, Version } from "./diff.ts"
export { diffStacks } from "./diff.ts"
export { documentName } from "./document.ts"
export { stackFingerprint } from "./separate.ts"
export type { FittedStack, StackEvent, Truncate } from "./fit.ts"
export { fitStack } from "./fit.ts"
export type { Floor, FloorPiece, FloorSizes } from "./fit.ts"
export { irreducibleFloor, requireFloor } from "./fit.ts"
export type {
  BreakpointOptions,
  BreakpointPlan,
  PlacedBreakpoint,
  Purpose,
  RefusedBreakpoint,
} from "./breakpoints.ts"
export { placeBreakpoints } from "./breakpoints.ts"
export { rejoin } from "./separate.ts"
export { renderStack } from "./stack.ts"
export type { Readers } from "./stack.ts"
export { resolveStack } from "./stack.ts"
export type { Layer, Section, Shrink } from "./stack.ts"
export type { Infrastructure, InjectedDocument, Separation } from "./separate.ts"
export { separate } from "./separate.ts"
export type { Count } from "./fit.ts"
export { stackFloor, stackTokens } from "./fit.ts"
export type { Stack, StackLayer } from "./stack.ts"
export { sectionsOf } from "./stack.ts"
