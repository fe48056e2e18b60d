// An entry of an announcement's history as text. The text of an unknown kind is its name. Pure.
import type { HistoryEntry } from '@pharos/contract/byoip/announcement-checks'
import { words } from './words.ts'
import { regionReasons, regionReasonText, type ReasonAttrs } from '@pharos/contract/reason/region-reason'

const { history: texts } = words

export type Described = { readonly text: string; readonly note?: string; readonly color: string }

const textIn = (detail: HistoryEntry['detail'], name: string): string | undefined => {
  const value = detail[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Entries from before reasons had codes have a sentence instead. */
function reasonIn(detail: HistoryEntry['detail']): string | undefined {
  const reason = regionReasons.find((one) => one === detail['reason'])
  return reason
    ? regionReasonText(reason, (detail['attrs'] ?? null) as ReasonAttrs | null)
    : textIn(detail, 'message')
}

export const checkName = (name: string): string => words.checks.names[name] ?? name

type Describe = (entry: HistoryEntry) => Described

const withNote = (text: string, color: string, note: string | undefined): Described =>
  note === undefined ? { text, color } : { text, color, note }

const listIn = (detail: HistoryEntry['detail'], name: string): readonly string[] => {
  const value = detail[name]
  return Array.isArray(value) ? value.map(String) : []
}

const inRegion = (region: string | null | undefined): string => (region ? texts.inRegion(region) : '')

const kinds: Readonly<Record<string, Describe>> = {
  created: () => ({ text: texts.created, color: 'idle' }),
  enabled: ({ detail }) => ({
    text: `${texts.enabled}${inRegion(textIn(detail, 'region') ?? listIn(detail, 'regions').join(', '))}`,
    color: 'accent',
  }),
  disabled: ({ detail }) => ({
    text: `${texts.disabled}${inRegion(textIn(detail, 'region'))}`,
    color: 'accent',
  }),
  updated: describeUpdate,
  announced: ({ region }) => ({ text: `${texts.announced}${inRegion(region)}`, color: 'ok' }),
  withdrawn: ({ region }) => ({ text: `${texts.withdrawn}${inRegion(region)}`, color: 'idle' }),
  refused: ({ region, detail }) => withNote(`${texts.refused}${inRegion(region)}`, 'bad', reasonIn(detail)),
  validation: describeCheck,
  suspended: ({ detail }) => withNote(texts.suspended, 'bad', textIn(detail, 'reason')),
  resumed: () => ({ text: texts.resumed, color: 'ok' }),
  deleted: () => ({ text: texts.deleted, color: 'bad' }),
  restored: () => ({ text: texts.restored, color: 'ok' }),
  letter_uploaded: ({ detail }) => withNote(texts.letterUploaded, 'info', textIn(detail, 'filename')),
  letter_superseded: () => ({ text: texts.letterSuperseded, color: 'idle' }),
  letter_accepted: () => ({ text: texts.letterAccepted, color: 'ok' }),
  letter_rejected: ({ detail }) => withNote(texts.letterRejected, 'bad', textIn(detail, 'reason')),
}

function describeUpdate({ detail }: HistoryEntry): Described {
  const regions = listIn(detail, 'regions')
  const changed = [
    ...('regions' in detail
      ? [regions.length === 0 ? texts.noRegions : texts.regions(regions.join(', '))]
      : []),
    ...listIn(detail, 'fields').map((name) => texts.fields[name] ?? name),
  ]
  return { text: texts.changed(changed.join('; ')), color: 'accent' }
}

function describeCheck({ detail }: HistoryEntry): Described {
  const after = textIn(detail, 'after') ?? ''
  const text = `${checkName(textIn(detail, 'name') ?? words.checks.unknown)}: ${after.replaceAll('_', ' ')}`
  return withNote(
    text,
    after === 'valid' ? 'ok' : after === 'pending' ? 'idle' : 'warn',
    textIn(detail, 'note'),
  )
}

export function describeEntry(entry: HistoryEntry): Described {
  const describe = kinds[entry.kind]
  if (describe) return describe(entry)
  const note = Object.keys(entry.detail).length === 0 ? undefined : JSON.stringify(entry.detail)
  return withNote(`${entry.kind.replaceAll('_', ' ')}${inRegion(entry.region)}`, 'idle', note)
}

/** The kinds by group, which the page can filter by. */
export const kindGroups = {
  switches: ['created', 'enabled', 'disabled', 'updated', 'suspended', 'resumed', 'deleted', 'restored'],
  routers: ['announced', 'withdrawn', 'refused'],
  checks: ['validation'],
  letters: ['letter_uploaded', 'letter_superseded', 'letter_accepted', 'letter_rejected'],
} as const
export type KindGroup = keyof typeof kindGroups

/** Returns the name of an actor such as `user:7`, by the names of the team's members; unknown actors are unchanged. */
export function actorName(actor: string, names: ReadonlyMap<string, string>): string {
  if (actor === 'operator') return texts.provider
  if (actor === 'reconciler') return texts.router
  if (actor === 'validator') return texts.validator
  if (actor.startsWith('token:')) return texts.token(actor.slice('token:'.length))
  return names.get(actor) ?? actor
}
