// Details of the entries of the inbox that are no approval: a cross connect whose next step is the provider's, bills with missing samples, and an open
// restore.
import { Anchor, Table, Text } from '@mantine/core'
import { billedText } from '@pharos/contract/inventory/bill-text'
import type { StaffCrossConnect } from '@pharos/contract/inventory/cross-connect'
import type { StaffBill } from '@pharos/contract/operator/bill'
import type { InboxEntry } from '@pharos/contract/operator/inbox'
import type { Restore } from '@pharos/contract/operator/restore'
import { CrossConnectPill } from '../inventory/cross-connect-state.tsx'
import { monthText } from '../inventory/bill-month.ts'
import { Facts } from '../ui/facts.tsx'
import { fileHref } from '../ui/file-href.ts'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import { OrDash } from '../ui/cells.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { CustomerLink } from './change-view.tsx'
import { MoveCrossConnect } from './cross-connects.tsx'
import { undecidedOf } from './request-text.ts'
import { words } from './words.ts'
import classes from './staff.module.css'

const { crossConnects, change, bills: t, request } = words

export function CrossConnectView({ connect }: { connect: StaffCrossConnect }) {
  const { name, team, circuit_id, location, next_step, loa_document: letter, waiting_since } = connect
  return (
    <Section
      title={name}
      note={<CrossConnectPill {...connect} />}
      actions={<MoveCrossConnect one={connect} />}
    >
      <Facts
        facts={[
          [change.customer, <CustomerLink key="team" team={team} />],
          [crossConnects.since, <Time key="since" at={waiting_since} />],
          [crossConnects.circuit, circuit_id],
          [words.devices.location, location?.name],
          [crossConnects.order, connect.provider_ref],
          [
            crossConnects.letter,
            letter && (
              <Anchor href={fileHref(letter.url)} download size="sm">
                {letter.filename}
              </Anchor>
            ),
          ],
        ]}
      />
      <Text size="sm" mt="xs">
        {next_step}
      </Text>
    </Section>
  )
}

type BillsProps = { readonly bills: readonly StaffBill[]; readonly team: InboxEntry['team'] }

export const BillsView = ({ bills, team }: BillsProps) => (
  <Section
    title={request.bills(bills.length)}
    note={team && <CustomerLink team={team} />}
    actions={
      <ButtonLink to="/staff/bills" search={{ needs_decision: true }} variant="default">
        {t.open}
      </ButtonLink>
    }
    flush
  >
    <Table.ScrollContainer minWidth={460}>
      <Table fz="sm" className={classes['table']!}>
        <Table.Thead>
          <Table.Tr>
            {[t.month, t.service, t.billed, t.missing].map((head) => (
              <Table.Th key={head}>{head}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {bills.map((bill) => (
            <BillRow key={bill.bill_id} bill={bill} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  </Section>
)

function BillRow({ bill }: { bill: StaffBill }) {
  const { bill_id: id, period, service, port_id, name, samples, missing_samples: missing } = bill
  return (
    <Table.Tr>
      <Table.Td>
        <TextLink to="/staff/bills" search={{ needs_decision: true, show: String(id) }} size="sm">
          {monthText(period)}
        </TextLink>
      </Table.Td>
      <Table.Td>{port_id === null ? service : `${service}, ${name}`}</Table.Td>
      <Table.Td>
        <OrDash>{billedText(bill)}</OrDash>
      </Table.Td>
      <Table.Td>{`${((100 * missing) / (samples + missing)).toFixed(1)} %`}</Table.Td>
    </Table.Tr>
  )
}

export const RestoreView = ({ restore }: { restore: Restore }) => (
  <Section
    title={request.restore(undecidedOf(restore))}
    actions={<ButtonLink to="/staff/restore">{words.restore.bannerLink}</ButtonLink>}
  >
    <Text size="sm">{restore.detail}</Text>
    <Text size="sm">{words.restore.meanwhile}</Text>
  </Section>
)
