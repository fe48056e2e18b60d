// The progress of an ALIAS record in the API. Pure.
import { aliasReasonText } from '@pharos/contract/reason/alias-reason'
import type { RecordSetAlias } from '@pharos/contract/dns/recordset'
import { printRdata } from '../../net/dns/rdata/rdata.ts'
import { recordType } from '../../net/dns/type.ts'
import type { AliasState } from './alias.store.ts'

/** Undefined: the target was not resolved yet. */
export function presentAlias(state: AliasState | undefined): RecordSetAlias {
  if (!state) return { status: 'pending', addresses: [], resolved: null, checked: null, message: null }
  const { a, aaaa, resolved, checked, reason } = state
  // Before its first answer the row has the addresses of a former target, which are still served.
  const addresses = [
    ...a.map((octets) => printRdata(recordType.A, octets)),
    ...aaaa.map((octets) => printRdata(recordType.AAAA, octets)),
  ]
  return {
    status: reason === null ? 'ok' : 'failing',
    addresses,
    resolved: resolved?.toISOString() ?? null,
    checked: checked.toISOString(),
    message: reason === null ? null : aliasReasonText(reason, addresses.length > 0),
  }
}
