// The supported detectors, by the `kind` of the source.
import { fastnetmon } from './fastnetmon.ts'
import { generic } from './generic.ts'
import type { Source } from './source.ts'

export const sources: Readonly<Record<string, Source>> = Object.fromEntries(
  [fastnetmon, generic].map((source) => [source.kind, source]),
)

export function sourceOfKind(kind: string): Source | undefined {
  return Object.hasOwn(sources, kind) ? sources[kind] : undefined
}
