// The texts of a row of the inbox: customer, requester, and change. Pure.
import type { Approval } from '@pharos/contract/operator/approval'
import type { ReasonOf } from '@pharos/contract/reason/approval-reason'
import type { InboxEntry } from '@pharos/contract/operator/inbox'
import type { Restore } from '@pharos/contract/operator/restore'
import { words as inventory } from '../inventory/words.ts'
import { rowOf, type InboxRow } from './inbox-rows.ts'
import { regionsIn, type ChangeRequest } from './requests.ts'
import { listed, prefixesText, regionsText, words } from './words.ts'

export const teamNameOf = ({ team }: Pick<ChangeRequest, 'team'>): string => team?.name ?? words.change.noTeam

/** Returns the requester, or the decision; undefined if neither is known. */
export function personOf(row: InboxRow): string | undefined {
  if ('letter' in row) return row.letter.uploaded_by_name ?? undefined
  if ('approval' in row && row.approval.state !== 'open') return words.approval.states[row.approval.state]
  return 'request' in row ? askedBy(row.request) : undefined
}

export function askedBy({ person, isByProvider }: Pick<ChangeRequest, 'person' | 'isByProvider'>): string {
  if (person === null) return words.change.nobody
  return isByProvider ? `${person} (${words.change.byProvider})` : person
}

export const askedText = (person: string | undefined, kind: string): string =>
  person === undefined ? kind : `${kind} · ${person}`

/** Returns the requested change: `Withdraw 2 prefixes in 4 regions`. */
export function whatOf(row: InboxRow): string {
  if ('letter' in row) return letterText(row.letter.announcements.map(({ cidr }) => cidr))
  if ('approval' in row) return approvalText(row.approval)
  if ('claim' in row) return words.asn.what(row.claim.asn)
  if ('connect' in row)
    return words.request.crossConnect(row.connect.name, inventory.crossConnects.statuses[row.connect.status])
  if ('bills' in row) return words.request.bills(row.bills.length)
  if ('router' in row) return words.request.formerRouter(row.router.name, row.router.region)
  if ('restore' in row) return words.request.restore(undecidedOf(row.restore))
  return changeText(row.request)
}

export const undecidedOf = ({ areas }: Restore): number =>
  areas.reduce((sum, { undecided }) => sum + undecided, 0)

/** Returns the subject of an entry without its items: in the overview. */
export function entryText(entry: InboxEntry): string {
  if (entry.kind !== 'routes') return whatOf(rowOf(entry, undefined)!)
  return words.request.unlisted(regionsText(entry.approvals.length))
}

/** Returns the subject of an approval: `Remove 12 record sets of example.com`. */
export function approvalText({
  area,
  reason,
  subject: { name },
  item_count: count,
}: Pick<Approval, 'area' | 'reason' | 'subject' | 'item_count'>): string {
  const { approval: t } = words
  if (area === 'dns') return t.dns[reason as ReasonOf<'dns'>](count, name)
  if (area === 'shield') return t.shield[reason as ReasonOf<'shield'>](count, name)
  return t[area](count, name)
}

export const letterText = (prefixes: readonly string[]): string =>
  prefixes.length === 0 ? words.request.letterOfNone : words.request.letterFor(listed(prefixes, 2))

export function changeText(request: ChangeRequest): string {
  const { prefixes, approvals } = request
  const withdrawn = prefixes.filter(({ withdrawnIn }) => withdrawnIn.length > 0)
  const changed = prefixes.filter(({ changedIn }) => changedIn.length > 0)
  const parts = [
    withdrawn.length > 0 &&
      words.request.withdraw(subject(withdrawn), regionsText(regionsIn(request, 'withdrawnIn').length)),
    changed.length > 0 &&
      words.request.change(subject(changed), regionsText(regionsIn(request, 'changedIn').length)),
  ].filter((part) => part !== false)
  return parts.length > 0 ? parts.join(' ') : words.request.unlisted(regionsText(approvals.length))
}

const subject = (prefixes: readonly { readonly cidr: string }[]): string =>
  prefixes.length === 1 ? prefixes[0]!.cidr : prefixesText(prefixes.length)
