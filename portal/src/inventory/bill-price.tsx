// The price of a bill: its lines, their sum and how they are rounded, and what a correction changes.
import { Table, Text } from '@mantine/core'
import type { BillPrice, CreditNote, PriceLine } from '@pharos/contract/inventory/bill-price'
import { formatRate } from '../ui/rate.ts'
import { moneyText } from './money-text.ts'
import { words } from './words.ts'

const { price: texts } = words.bill

const isOfBytes = ({ per }: PriceLine): boolean => per === 1_000_000_000

const quantityOf = (line: PriceLine): string =>
  line.quantity === null ? '' : formatRate(line.quantity, isOfBytes(line) ? 'B' : 'bps')

const nameOf = (line: PriceLine): string =>
  line.kind === 'tier'
    ? texts.tier(formatRate(line.above ?? 0, isOfBytes(line) ? 'B' : 'bps'))
    : (isOfBytes(line) ? texts.ofBytes : texts.kinds)[line.kind]

export function PriceLines({ price }: { price: BillPrice }) {
  const { currency, decimals, lines, amount } = price
  if (amount === null) return <Text size="sm">{texts.unknown}</Text>
  return (
    <>
      <Table.ScrollContainer minWidth={420}>
        <Table aria-label={texts.title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.line}</Table.Th>
              <Table.Th>{texts.quantity}</Table.Th>
              <Table.Th>{texts.price}</Table.Th>
              <Table.Th>{texts.time}</Table.Th>
              <Table.Th ta="right">{texts.amount}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {lines.map((line, at) => (
              <Table.Tr key={at}>
                <Table.Td>{nameOf(line)}</Table.Td>
                <Table.Td>{quantityOf(line)}</Table.Td>
                <Table.Td>
                  {line.price} {texts.per(line.per)}
                </Table.Td>
                <Table.Td>
                  {line.buckets === line.of_buckets
                    ? texts.whole
                    : texts.share(line.buckets, line.of_buckets)}
                </Table.Td>
                <Table.Td ta="right">{moneyText(line.amount, currency)}</Table.Td>
              </Table.Tr>
            ))}
            <Table.Tr>
              <Table.Td colSpan={4} fw={600}>
                {texts.total}
              </Table.Td>
              <Table.Td ta="right" fw={600}>
                {moneyText(amount, currency)}
              </Table.Td>
            </Table.Tr>
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="sm" c="dimmed">
        {texts.rounding(decimals)}
      </Text>
    </>
  )
}

/** `Credit note for bill 370: −1.2 Gbps, −55.00 EUR`. */
export function creditText(note: CreditNote): string {
  const signed = (value: number | null, unit: 'bps' | 'B') =>
    value === null || value === 0 ? [] : [`${value < 0 ? '−' : '+'}${formatRate(Math.abs(value), unit)}`]
  const money =
    note.amount === null || note.currency === null
      ? []
      : [`${note.amount.startsWith('-') ? '' : '+'}${moneyText(note.amount, note.currency)}`]
  const changes = [...signed(note.billable_bps, 'bps'), ...signed(note.billable_octets, 'B'), ...money]
  return texts.credit(note.corrects, changes.join(', '))
}
