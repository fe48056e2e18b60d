// The supported detectors, by the `kind` of the source.
import { alertmanager } from './alertmanager.ts'
import { fastnetmonCommunity } from './fastnetmon-community.ts'
import { fastnetmon } from './fastnetmon.ts'
import { flows } from './flows.ts'
import { generic } from './generic.ts'
import { sightline } from './sightline.ts'
import type { Source } from './source.ts'

export const sources: Readonly<Record<string, Source>> = Object.fromEntries(
  [flows, fastnetmon, fastnetmonCommunity, alertmanager, sightline, generic].map((source) => [
    source.kind,
    source,
  ]),
)

export function sourceOfKind(kind: string): Source | undefined {
  return Object.hasOwn(sources, kind) ? sources[kind] : undefined
}
