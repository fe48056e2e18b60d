// The texts of a row of the inbox: whose request it is, who asked, and for what. Pure.
import type { ShieldHold } from '@pharos/contract/shield-hold'
import type { ZoneHold } from '@pharos/contract/zone-hold'
import type { InboxRow } from './inbox-rows.ts'
import { regionsIn, type ChangeRequest } from './requests.ts'
import { listed, prefixesText, regionsText, words } from './words.ts'

export function customerOf(row: InboxRow): string {
  if (row.kind === 'change') return teamNameOf(row.request)
  if (row.kind === 'zone' || row.kind === 'shield') return teamNameOf(row.hold)
  return row.kind === 'letter' ? row.letter.team.name : row.claim.team.name
}

export const teamNameOf = ({ team }: Pick<ChangeRequest, 'team'>): string => team?.name ?? words.change.noTeam

/** Returns who asked; undefined if nobody is known. */
export function personOf(row: InboxRow): string | undefined {
  if (row.kind === 'letter') return row.letter.uploaded_by_name ?? undefined
  return row.kind === 'change' ? askedBy(row.request) : undefined
}

export function askedBy({ person, isByProvider }: Pick<ChangeRequest, 'person' | 'isByProvider'>): string {
  if (person === null) return words.change.nobody
  return isByProvider ? `${person} (${words.change.byProvider})` : person
}

export const askedText = (person: string | undefined, kind: string): string =>
  person === undefined ? kind : `${kind} · ${person}`

/** Returns what was asked for: `Withdraw 2 prefixes in 4 regions`. */
export function whatOf(row: InboxRow): string {
  if (row.kind === 'letter') return letterText(row.letter.announcements.map(({ cidr }) => cidr))
  if (row.kind === 'zone') return zoneHoldText(row.hold)
  if (row.kind === 'shield') return shieldHoldText(row.hold)
  if (row.kind === 'asn') return words.asn.what(row.claim.asn)
  return changeText(row.request)
}

/** Returns what a held change of DNS removes: `Remove 12 record sets of example.com`. */
export const zoneHoldText = ({ kind, zone, removal_count: n }: ZoneHold): string =>
  words.zoneHold.what[kind](n, zone?.name ?? '')

/** Returns what a held change of shield does: `Drop or limit all traffic to 203.0.113.0/24`. */
export const shieldHoldText = ({ reason, prefix, prefixes }: ShieldHold): string =>
  words.shieldHold.what[reason](prefix ?? '', prefixes.length)

export const letterText = (prefixes: readonly string[]): string =>
  prefixes.length === 0 ? words.request.letterOfNone : words.request.letterFor(listed(prefixes, 2))

export function changeText(request: ChangeRequest): string {
  const { prefixes, holds } = request
  const withdrawn = prefixes.filter(({ withdrawnIn }) => withdrawnIn.length > 0)
  const changed = prefixes.filter(({ changedIn }) => changedIn.length > 0)
  const parts = [
    withdrawn.length > 0 &&
      words.request.withdraw(subject(withdrawn), regionsText(regionsIn(request, 'withdrawnIn').length)),
    changed.length > 0 &&
      words.request.change(subject(changed), regionsText(regionsIn(request, 'changedIn').length)),
  ].filter((part) => part !== false)
  return parts.length > 0 ? parts.join(' ') : words.request.unlisted(regionsText(holds.length))
}

const subject = (prefixes: readonly { readonly cidr: string }[]): string =>
  prefixes.length === 1 ? prefixes[0]!.cidr : prefixesText(prefixes.length)
