export { applyBreakpoints } from "./apply-breakpoints.ts"
export type { Marker, Position, RequestPieces } from "./breakpoint.ts"
export { markersIn } from "./breakpoint.ts"
export type { SectionDefinition, Source, StackDefinition } from "./definition.ts"
export type { StackChange, Version } from "./diff.ts"
export { diffStacks } from "./diff.ts"
export { documentName } from "./document.ts"
export { stackFingerprint } from "./fingerprint.ts"
export type { FittedStack, StackEvent, Truncate } from "./fit.ts"
export { fitStack } from "./fit.ts"
export type { Floor, FloorPiece, FloorSizes } from "./floor.ts"
export { irreducibleFloor, requireFloor } from "./floor.ts"
export type {
  BreakpointOptions,
  BreakpointPlan,
  PlacedBreakpoint,
  Purpose,
  RefusedBreakpoint,
} from "./place-breakpoints.ts"
export { placeBreakpoints } from "./place-breakpoints.ts"
export { rejoin } from "./rejoin.ts"
export { renderStack } from "./render.ts"
export type { Readers } from "./resolve.ts"
export { resolveStack } from "./resolve.ts"
export type { Layer, Section, Shrink } from "./section.ts"
export type { Infrastructure, InjectedDocument, Separation } from "./separate.ts"
export { separate } from "./separate.ts"
export type { Count } from "./size.ts"
export { stackFloor, stackTokens } from "./size.ts"
export type { Stack, StackLayer } from "./stack.ts"
export { sectionsOf } from "./stack.ts"
