// For tests: reports of collectors about one announcement of AS64496.
import { parseAsn } from '../../net/asn.ts'
import type { VisibilityEvidence, SeenState } from './visibility.ts'

/** Complete data of 300 collectors without the route. */
export const sampleEvidence = (rest: Partial<VisibilityEvidence> = {}): VisibilityEvidence => ({
  originAsn: parseAsn(64496),
  change: null,
  states: [],
  moreSpecifics: [],
  collectors: 300,
  isComplete: true,
  isTruncated: false,
  isContinuous: true,
  settledSeconds: null,
  ...rest,
})

/** This number of collectors with the same origin for a long time; 0: without a route. */
export const sampleStates = (count: number, origin: number): SeenState[] =>
  Array.from({ length: count }, () => ({ origin, isOurs: origin !== 0, atMs: 0 }))
