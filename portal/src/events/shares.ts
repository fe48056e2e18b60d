// Shares of an event's traffic as the rows of bars. Pure.
import type { ParsedData } from '@pharos/contract/events/event'
import type { Share } from '../charts/shapes.ts'
import { portName } from './port-names.ts'

type Amounts = { readonly packets?: number | undefined; readonly bytes?: number | undefined }

export type Shares = { readonly unit: 'bytes' | 'packets'; readonly items: readonly Share[] }

/** Returns the bars of all entries with an amount: bytes if all have them, packets otherwise; undefined without amounts. */
function sharesOf<T extends Amounts>(
  list: readonly T[] | undefined,
  labelOf: (one: T) => Omit<Share, 'value'>,
): Shares | undefined {
  const unit = (['bytes', 'packets'] as const).find(
    (one) => list !== undefined && list.length > 0 && list.every((share) => share[one] !== undefined),
  )
  return unit && { unit, items: list!.map((one) => ({ ...labelOf(one), value: one[unit]! })) }
}

/** Returns the text of entries without amounts: `53 DNS, 123 NTP`. */
const namesOf = <T>(list: readonly T[] | undefined, labelOf: (one: T) => Omit<Share, 'value'>): string =>
  (list ?? [])
    .map(labelOf)
    .map(({ label, secondary }) => (secondary === undefined ? label : `${label} ${secondary}`))
    .join(', ')

const portLabel = ({ port }: { readonly port: number }): Omit<Share, 'value'> => {
  const secondary = portName(port)
  return { label: String(port), ...(secondary === undefined ? {} : { secondary }) }
}

export type ShareCard = {
  readonly kind: 'sources' | 'sourcePorts' | 'destinationPorts'
  readonly shares: Shares | undefined
  /** Text without amounts. */
  readonly names: string
}

/** Returns a card for each breakdown that the detector reported. */
export function shareCards({
  top_sources,
  source_ports,
  destination_ports,
}: ParsedData): readonly ShareCard[] {
  const addressLabel = ({ address }: { readonly address: string }) => ({ label: address })
  const cards: readonly ShareCard[] = [
    {
      kind: 'sources',
      shares: sharesOf(top_sources, addressLabel),
      names: namesOf(top_sources, addressLabel),
    },
    {
      kind: 'sourcePorts',
      shares: sharesOf(source_ports, portLabel),
      names: namesOf(source_ports, portLabel),
    },
    {
      kind: 'destinationPorts',
      shares: sharesOf(destination_ports, portLabel),
      names: namesOf(destination_ports, portLabel),
    },
  ]
  return cards.filter(({ names }) => names !== '')
}
