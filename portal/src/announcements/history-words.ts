// What happened to an announcement, as a sentence with who did it. Pure; a kind that is not known here is shown by its name.
import type { HistoryEntry } from '@pharos/contract/announcement-checks'
import { regionReasons, regionReasonText, type ReasonAttrs } from '@pharos/contract/region-reason'

export type Told = { readonly text: string; readonly note?: string; readonly color: string }

const textIn = (detail: HistoryEntry['detail'], name: string): string | undefined => {
  const value = detail[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Entries from before reasons were codes have a sentence instead. */
function reasonIn(detail: HistoryEntry['detail']): string | undefined {
  const reason = regionReasons.find((one) => one === detail['reason'])
  return reason
    ? regionReasonText(reason, (detail['attrs'] ?? null) as ReasonAttrs | null)
    : textIn(detail, 'message')
}

const checkWords: Readonly<Record<string, string>> = {
  irr: 'IRR',
  rpki: 'RPKI',
  loa: 'Letter of authorization',
  asn: 'Origin AS',
  size: 'Size',
  overlap: 'Overlap',
}
export const checkName = (name: string): string => checkWords[name] ?? name

type Tell = (entry: HistoryEntry) => Told

const withNote = (text: string, color: string, note: string | undefined): Told =>
  note === undefined ? { text, color } : { text, color, note }

const inRegion = (region: string | null | undefined): string => (region ? ` in ${region}` : '')

const kinds: Readonly<Record<string, Tell>> = {
  created: () => ({ text: 'Brought', color: 'gray' }),
  enabled: ({ detail }) => ({ text: `Switched on${inRegion(textIn(detail, 'region'))}`, color: 'indigo' }),
  disabled: ({ detail }) => ({ text: `Switched off${inRegion(textIn(detail, 'region'))}`, color: 'indigo' }),
  announced: ({ region }) => ({ text: `Announced${inRegion(region)}`, color: 'teal' }),
  withdrawn: ({ region }) => ({ text: `Withdrawn${inRegion(region)}`, color: 'gray' }),
  refused: ({ region, detail }) => withNote(`Refused${inRegion(region)}`, 'red', reasonIn(detail)),
  validation: toldOfCheck,
  suspended: ({ detail }) => withNote('Suspended by the provider', 'red', textIn(detail, 'reason')),
  resumed: () => ({ text: 'Suspension ended', color: 'teal' }),
  deleted: () => ({ text: 'Deleted', color: 'red' }),
  restored: () => ({ text: 'Restored', color: 'teal' }),
  letter_uploaded: ({ detail }) => withNote('Letter sent', 'blue', textIn(detail, 'filename')),
  letter_superseded: () => ({ text: 'Letter replaced by a newer one', color: 'gray' }),
  letter_accepted: () => ({ text: 'Letter accepted', color: 'teal' }),
  letter_rejected: ({ detail }) => withNote('Letter rejected', 'red', textIn(detail, 'reason')),
}

function toldOfCheck({ detail }: HistoryEntry): Told {
  const after = textIn(detail, 'after') ?? ''
  const text = `${checkName(textIn(detail, 'name') ?? 'Check')}: ${after.replaceAll('_', ' ')}`
  return withNote(
    text,
    after === 'valid' ? 'teal' : after === 'pending' ? 'gray' : 'orange',
    textIn(detail, 'note'),
  )
}

export function toldOf(entry: HistoryEntry): Told {
  const tell = kinds[entry.kind]
  if (tell) return tell(entry)
  const note = Object.keys(entry.detail).length === 0 ? undefined : JSON.stringify(entry.detail)
  return withNote(`${entry.kind.replaceAll('_', ' ')}${inRegion(entry.region)}`, 'gray', note)
}

/** The kinds that belong together, for looking at some of them only. */
export const kindGroups = {
  switches: ['created', 'enabled', 'disabled', 'suspended', 'resumed', 'deleted', 'restored'],
  routers: ['announced', 'withdrawn', 'refused'],
  checks: ['validation'],
  letters: ['letter_uploaded', 'letter_superseded', 'letter_accepted', 'letter_rejected'],
} as const
export type KindGroup = keyof typeof kindGroups

/** `user:7` by the names of the team's members; whoever is none of them stays as he is written. */
export function actorName(actor: string, names: ReadonlyMap<string, string>): string {
  if (actor === 'operator') return 'the provider'
  if (actor === 'reconciler') return 'seen on the router'
  if (actor === 'validator') return 'seen in the registries'
  if (actor.startsWith('token:')) return `API token ${actor.slice('token:'.length)}`
  return names.get(actor) ?? actor
}
