// Data sets that came before their template. They wait for it in the order in which they came: the end of a connection is decoded after
// its update (`connections.ts`).
import type { FlowColumns } from '../../flow/flow-columns.ts'
import type { Decoding } from './decoding.ts'
import { recordAddressOf, type ObservationDomain, type FlowTemplate } from './domain.ts'
import type { Exporter, HeldSet } from './exporter-table.ts'
import { heldSetOctets } from './quota.ts'
import { countRecords } from './record-values.ts'

const heldMs = 60_000

export type HeldSets = {
  /**
   * Stores a set, unless memory is short, and requests its template if no other set waits for it. The octets are not
   * copied.
   */
  readonly hold: (exporter: Exporter, set: HeldSet) => void
  /** A template was saved: sets that wait for it are due. */
  readonly onTemplate: (exporter: Exporter, domain: ObservationDomain, id: number) => void
  /** Decodes the sets of the exporter if some are due. Cheap if not: it is called for every datagram. */
  readonly releaseDue: (exporter: Exporter, timeMs: number, columns: FlowColumns) => void
  /**
   * Decodes the sets of all exporters whose template has arrived, and drops sets that waited too long. It reads every
   * set, so it runs once a second.
   */
  readonly releaseAll: (timeMs: number, columns: FlowColumns) => void
}

/** Creates the sets; `decode` appends the flows of one. */
export function createHeldSets(
  { quota, counters, context, events }: Decoding,
  decode: (exporter: Exporter, set: HeldSet, template: FlowTemplate, columns: FlowColumns) => void,
): HeldSets {
  /** Exporters with waiting sets. */
  const waiting = new Set<Exporter>()

  function hold(exporter: Exporter, set: HeldSet): void {
    const { domain, id } = set
    if (!quota.take(exporter, 'heldOctets', chargeOf(set))) {
      counters.overflowedSets++
      return
    }
    counters.heldSets++
    exporter.held.push(set)
    waiting.add(exporter)
    const sets = domain.awaited.get(id) ?? 0
    domain.awaited.set(id, sets + 1)
    if (sets > 0) return
    const { version, id: domainId } = domain
    events.onUnknownTemplate?.({ ...recordAddressOf(exporter), version, domain: domainId, id })
  }

  function onTemplate(exporter: Exporter, domain: ObservationDomain, id: number): void {
    if (domain.awaited.has(id)) exporter.isReleaseDue = true
  }

  function releaseDue(exporter: Exporter, timeMs: number, columns: FlowColumns): void {
    if (exporter.isReleaseDue) release(exporter, timeMs, columns)
  }

  function releaseAll(timeMs: number, columns: FlowColumns): void {
    for (const exporter of waiting) release(exporter, timeMs, columns)
  }

  /** Stops when the rows do not fit; the remaining sets are tried again a second later. */
  function release(exporter: Exporter, timeMs: number, columns: FlowColumns): void {
    exporter.isReleaseDue = false
    context.exporter = exporter.index
    context.connectionsOf = exporter.connections
    context.override = exporter.shared.override
    exporter.held = exporter.held.filter((set) => !releaseSet(exporter, set, timeMs, columns))
    if (exporter.held.length === 0) waiting.delete(exporter)
  }

  /** Returns whether the set was decoded or dropped. */
  function releaseSet(exporter: Exporter, set: HeldSet, timeMs: number, columns: FlowColumns): boolean {
    const { octets, domain, id } = set
    const template = domain.templates.get(id)
    if (template) {
      // A biflow has two rows.
      const rows = 2 * countRecords(template.layout, 0, octets.length)
      if (columns.capacity - columns.length < rows) return false
      context.time = Math.floor(set.timeMs / 1000)
      decode(exporter, set, template, columns)
    } else if (timeMs - set.timeMs > heldMs) counters.expiredSets++
    else return false
    quota.giveBack(exporter, 'heldOctets', chargeOf(set))
    const others = domain.awaited.get(id)! - 1
    if (others > 0) domain.awaited.set(id, others)
    else domain.awaited.delete(id)
    return true
  }

  return { hold, onTemplate, releaseDue, releaseAll }
}

const chargeOf = ({ octets }: HeldSet): number => octets.length + heldSetOctets
