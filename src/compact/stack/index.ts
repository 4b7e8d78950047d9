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
export { documentName } from "./document.ts"
export type { Count, FittedStack, Floor, FloorPiece, FloorSizes, StackEvent, Truncate } from "./fit.ts"
export { fitStack, irreducibleFloor, requireFloor, stackFloor, stackTokens } from "./fit.ts"
export type { Infrastructure, InjectedDocument, Separation } from "./separate.ts"
export { rejoin, separate, stackFingerprint } from "./separate.ts"
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
