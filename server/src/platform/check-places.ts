// Checks locations, regions and sources of the operator's file, and makes them entries.
import { isTimezone } from '../runtime/time.ts'
import { given, type CheckContext } from './check-context.ts'
import { checkSource } from './source.ts'
import { checkSpeaker, type SpeakerSettings } from './speaker.ts'

export function checkLocations(context: CheckContext): void {
  for (const { index, element } of context.shaped.written.locations) {
    const path = ['locations', index]
    const { key, name, country, timezone } = element
    if (!isTimezone(timezone)) {
      context.problem([...path, 'timezone'], `${timezone} is no IANA time zone; one is Europe/Amsterdam`)
    }
    context.add({ kind: 'location', key, fields: { name, country, timezone }, path }, `location ${key}`)
  }
}

export function checkRegions(context: CheckContext): void {
  for (const { index, element } of context.shaped.written.regions) {
    const path = ['regions', index]
    const { slug, name, location, open, speaker } = element
    context.refer('locations', location, [...path, 'location'])
    for (const wrong of checkSpeaker(speaker))
      context.problem([...path, 'speaker', ...wrong.path], wrong.message)
    const fields = { name, location, speaker: speaker as SpeakerSettings, ...given({ open }) }
    context.add({ kind: 'region', key: slug, fields, path }, `region ${slug}`)
    checkRouter(context, path, speaker as SpeakerSettings)
  }
}

/** Two regions on one router with one owner would each take the other's routes for strangers, and withdraw them. */
function checkRouter(context: CheckContext, path: (string | number)[], speaker: SpeakerSettings): void {
  if (speaker.kind !== 'gobgp') return
  const claim = `router ${speaker.address} ${speaker.owner}`
  context.firstTime(claim, [...path, 'speaker', 'address'], 'two regions share a router and an owner')
}

export function checkSources(context: CheckContext): void {
  for (const { index, element } of context.shaped.written.sources) {
    const path = ['sources', index]
    const { key, kind, name, secret: text, secret_file: file, settings } = element
    for (const wrong of checkSource(kind, settings ?? {}))
      context.problem([...path, ...wrong.path], wrong.message)
    const location = settings?.['location']
    if (typeof location === 'string') context.refer('locations', location, [...path, 'settings', 'location'])
    if (text !== undefined && file !== undefined) {
      context.problemAtKey([...path, 'secret_file'], 'give secret or secret_file, not both')
    }
    if (text === undefined && file === undefined && !context.current.source.has(key)) {
      context.problem(path, `source ${key} is new and needs a secret or secret_file`)
    }
    if (text !== undefined) {
      context.credentials.push({ kind: 'source', key, path: [...path, 'secret'], text })
    } else if (file !== undefined) {
      context.credentials.push({ kind: 'source', key, path: [...path, 'secret_file'], file })
    }
    context.add(
      { kind: 'source', key, fields: { kind, name, ...given({ settings }) }, path },
      `source ${key}`,
    )
  }
}
