export type { Floor, FloorPiece, FloorSizes } from "../plan/plan.ts"
export { irreducibleFloor, requireFloor } from "../plan/plan.ts"
export type {
  BreakpointOptions,
  BreakpointPlan,
  Marker,
  PlacedBreakpoint,
  Position,
  Purpose,
  RefusedBreakpoint,
  RequestPieces,
} from "./breakpoints.ts"
export { applyBreakpoints, markersIn, placeBreakpoints } from "./breakpoints.ts"
export type { StackChange, Version } from "./diff.ts"
export { diffStacks } from "./diff.ts"
export type { Count, FittedStack, StackEvent, Truncate } from "./fit.ts"
export { fitStack, stackFloor, stackTokens } from "./fit.ts"
export { rejoin } from "./rejoin.ts"
export type { Infrastructure, InjectedDocument, Separation } from "./separate.ts"
export { documentName, separate, stackFingerprint } from "./separate.ts"
export type {
  FilesSource,
  Layer,
  Readers,
  Section,
  SectionDefinition,
  Shrink,
  Source,
  Stack,
  StackDefinition,
  StackLayer,
} from "./stack.ts"
export { renderStack, resolveStack, sectionsOf } from "./stack.ts"
