// Details of the entries of the inbox that are no approval: a cross connect whose next step is the provider's, a bill with missing samples, and an open
// restore.
import { Anchor, Text } from '@mantine/core'
import type { StaffCrossConnect } from '@pharos/contract/inventory/cross-connect'
import type { StaffBill } from '@pharos/contract/operator/bill'
import type { InboxEntry } from '@pharos/contract/operator/inbox'
import type { Restore } from '@pharos/contract/operator/restore'
import { CrossConnectPill } from '../inventory/cross-connect-state.tsx'
import { monthText } from '../inventory/bill-month.ts'
import { Facts } from '../ui/facts.tsx'
import { fileHref } from '../ui/file-href.ts'
import { ButtonLink } from '../ui/link.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { BillDetails } from './bills.tsx'
import { CustomerLink } from './change-view.tsx'
import { MoveCrossConnect } from './cross-connects.tsx'
import { undecidedOf } from './request-text.ts'
import { words } from './words.ts'

const { crossConnects, change, bills, request } = words

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

type BillProps = { readonly bill: StaffBill; readonly team: InboxEntry['team'] }

export const BillView = ({ bill, team }: BillProps) => (
  <Section
    title={request.bill(bill.service, monthText(bill.period))}
    actions={
      <ButtonLink to="/staff/bills" search={{ show: String(bill.bill_id) }} variant="default">
        {bills.openBill}
      </ButtonLink>
    }
  >
    {team && <Facts facts={[[change.customer, <CustomerLink key="team" team={team} />]]} />}
    <BillDetails bill={bill} />
  </Section>
)

export const RestoreView = ({ restore }: { restore: Restore }) => (
  <Section
    title={request.restore(undecidedOf(restore))}
    actions={<ButtonLink to="/staff/restore">{words.restore.bannerLink}</ButtonLink>}
  >
    <Text size="sm">{restore.detail}</Text>
    <Text size="sm">{words.restore.meanwhile}</Text>
  </Section>
)
